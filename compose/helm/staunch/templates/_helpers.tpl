{{- define "staunch.name" -}}
{{- if contains "staunch" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-staunch" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* The names of the workloads in use. */}}
{{- define "staunch.workloads" -}}
{{- if eq .Values.topology "all" }}all{{ else }}ingress executor timer cache-notifier{{ end }}
{{- end }}

{{/* The name of a workload's objects: (list root workload). */}}
{{- define "staunch.workload" -}}
{{- $root := index . 0 }}{{- $workload := index . 1 }}
{{- if eq $workload "all" }}{{ include "staunch.name" $root }}{{ else }}{{ include "staunch.name" $root }}-{{ $workload }}{{ end }}
{{- end }}

{{/* The workload that answers HTTP. */}}
{{- define "staunch.front" -}}
{{- if eq .Values.topology "all" }}all{{ else }}ingress{{ end }}
{{- end }}

{{- define "staunch.selector" -}}
app.kubernetes.io/name: staunch
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "staunch.labels" -}}
{{ include "staunch.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "staunch.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- define "staunch.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "staunch.name" .) }}
{{- end }}

{{- define "staunch.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "staunch.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The path of the Ingress, without a slash at the end: a node serves what is below it, too. Empty at
the root. */}}
{{- define "staunch.basePath" -}}
{{- if .Values.ingress.enabled }}{{ .Values.ingress.path | trimSuffix "/" }}{{ end }}
{{- end }}

{{- define "staunch.publicUrl" -}}
{{- $path := include "staunch.basePath" . }}
{{- if .Values.publicUrl }}
{{- if not (hasSuffix $path (trimSuffix "/" .Values.publicUrl)) }}
{{- fail (printf "publicUrl does not end with ingress.path, %s: links would lead past the Ingress; append the path, or leave publicUrl empty" $path) }}
{{- end }}
{{- .Values.publicUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.host }}{{ if .Values.ingress.tlsSecret }}https{{ else }}http{{ end }}://{{ .Values.ingress.host }}{{ $path }}
{{- else if and .Values.gateway.enabled .Values.gateway.host }}https://{{ .Values.gateway.host }}
{{- else }}http://{{ include "staunch.name" . }}.{{ .Release.Namespace }}.svc:{{ .Values.service.port }}
{{- end }}
{{- end }}

{{/* A variable with the value of a secret: (list VARIABLE reference). */}}
{{- define "staunch.secretVariable" -}}
{{- $reference := index . 1 -}}
- name: {{ index . 0 }}
  valueFrom: { secretKeyRef: { name: {{ $reference.name | quote }}, key: {{ $reference.key | quote }} } }
{{- end }}

{{/* Where NATS is, and how a process gets in. */}}
{{- define "staunch.natsVariables" -}}
{{- with .Values.nats }}
{{- if gt (len (compact (list .url .urlSecret.name (ternary "enabled" "" .enabled)))) 1 }}
{{- fail "nats.url, nats.urlSecret.name and nats.enabled each say where NATS is: set one of them" }}
{{- end }}
{{- end }}
{{- if .Values.nats.urlSecret.name }}
{{ include "staunch.secretVariable" (list "STAUNCH_NATS_URL" .Values.nats.urlSecret) }}
{{- else if .Values.nats.enabled }}
- { name: STAUNCH_NATS_URL, value: "nats://{{ include "staunch.name" . }}-nats:4222" }
{{- else }}
- { name: STAUNCH_NATS_URL, value: {{ required "set nats.url or nats.urlSecret.name, or nats.enabled for a trial" .Values.nats.url | quote }} }
{{- end }}
{{- if .Values.nats.credsSecret.name }}
- { name: STAUNCH_NATS_CREDS, value: /etc/staunch/nats-creds/{{ .Values.nats.credsSecret.key }} }
{{- end }}
{{- if .Values.nats.caSecret.name }}
- { name: STAUNCH_NATS_CA, value: /etc/staunch/nats-ca/{{ .Values.nats.caSecret.key }} }
{{- end }}
{{- end }}

{{- define "staunch.settingVariables" -}}
{{- range $name, $value := .Values.settings }}
- { name: STAUNCH_{{ $name | upper | replace "-" "_" }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}

{{- define "staunch.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .Values.nats.credsSecret.name }}
- { name: nats-creds, mountPath: /etc/staunch/nats-creds, readOnly: true }
{{- end }}
{{- if .Values.nats.caSecret.name }}
- { name: nats-ca, mountPath: /etc/staunch/nats-ca, readOnly: true }
{{- end }}
{{- end }}

{{- define "staunch.volumes" -}}
- { name: tmp, emptyDir: { sizeLimit: 64Mi } }
{{- if .Values.nats.credsSecret.name }}
- { name: nats-creds, secret: { secretName: {{ .Values.nats.credsSecret.name }}, defaultMode: 0440 } }
{{- end }}
{{- if .Values.nats.caSecret.name }}
- { name: nats-ca, secret: { secretName: {{ .Values.nats.caSecret.name }}, defaultMode: 0444 } }
{{- end }}
{{- end }}

{{/* What every pod has. */}}
{{- define "staunch.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "staunch.podSecurity" . | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "staunch.jobResources" -}}
requests: { cpu: 50m, memory: 64Mi, ephemeral-storage: 64Mi }
limits: { memory: 256Mi, ephemeral-storage: 128Mi }
{{- end }}
