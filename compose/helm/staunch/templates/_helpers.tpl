{{/* The beginning of all names: Services have it, whose names have no dot and end with no dash. */}}
{{- define "staunch.name" -}}
{{- $name := contains "staunch" .Release.Name | ternary .Release.Name (printf "%s-staunch" .Release.Name) }}
{{- regexReplaceAll "-+$" (trunc 40 $name) "" }}
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
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "staunch.labels" -}}
{{ include "staunch.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
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
{{- $form := get (get (fromYaml (include "staunch.settings" .)) "settings") "base-url" }}
{{- include "staunch.checkValue" (list $form "publicUrl" .Values.publicUrl) }}
{{- if not (hasSuffix $path (trimSuffix "/" .Values.publicUrl)) }}
{{- fail (printf "publicUrl does not end with ingress.path, %s: links would lead past the Ingress; append the path, or leave publicUrl empty" $path) }}
{{- end }}
{{- .Values.publicUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.host }}
{{- include "staunch.oneHost" (list "ingress.host" .Values.ingress.host) }}
{{- if .Values.ingress.tlsSecret }}https{{ else }}http{{ end }}://{{ .Values.ingress.host }}{{ $path }}
{{- else if and .Values.gateway.enabled .Values.gateway.host }}
{{- include "staunch.oneHost" (list "gateway.host" .Values.gateway.host) -}}
https://{{ .Values.gateway.host }}
{{- else if or .Values.ingress.enabled .Values.gateway.enabled }}
{{- $route := ternary "ingress" "gateway" .Values.ingress.enabled }}
{{- fail (printf "%s.enabled needs publicUrl or %s.host: links would begin with the address of the Service, which nobody outside of the cluster reaches" $route $route) }}
{{- else }}{{ include "staunch.scheme" . }}://{{ include "staunch.name" . }}.{{ .Release.Namespace }}.svc:{{ .Values.service.port }}
{{- end }}
{{- end }}

{{/* Refuses a host for every name of a domain, where links begin with it: (list value host). */}}
{{- define "staunch.oneHost" -}}
{{- if hasPrefix "*" (index . 1) }}
{{- fail (printf "%s is %s, and links need one host: set publicUrl, such as https://flows%s" (index . 0) (index . 1) (trimPrefix "*" (index . 1))) }}
{{- end }}
{{- end }}

{{/* How the port 5001 is reached inside the cluster. */}}
{{- define "staunch.scheme" -}}
{{- if include "staunch.given" (list . "tls-cert") }}https{{ else }}http{{ end }}
{{- end }}

{{/* Where a setting comes from if the chart makes nothing of it, or nothing: (list root setting). */}}
{{- define "staunch.given" -}}
{{- $root := index . 0 }}{{- $setting := index . 1 }}
{{- $variable := include "staunch.variable" $setting }}
{{- $found := list }}
{{- if ne (include "staunch.text" (get $root.Values.settings $setting)) "" }}
{{- $found = append $found (printf "settings.%s" $setting) }}
{{- end }}
{{- range $root.Values.extraEnv }}
{{- if has .name (list $variable (printf "%s_FILE" $variable)) }}
{{- $found = append $found (printf "%s of extraEnv" .name) }}
{{- end }}
{{- end }}
{{- with $found }}{{ first . }}{{ end }}
{{- end }}

{{/* The variable of a setting. */}}
{{- define "staunch.variable" -}}
STAUNCH_{{ . | upper | replace "-" "_" }}
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
- { name: STAUNCH_NATS_CREDS, value: {{ printf "/etc/staunch/nats-creds/%s" .Values.nats.credsSecret.key | quote }} }
{{- end }}
{{- if .Values.nats.caSecret.name }}
- { name: STAUNCH_NATS_CA, value: {{ printf "/etc/staunch/nats-ca/%s" .Values.nats.caSecret.key | quote }} }
{{- end }}
{{- end }}

{{/* The text of a setting. A number of a file is a float: as JSON it is 1000000, as text 1e+06. */}}
{{- define "staunch.text" -}}
{{ kindIs "string" . | ternary . (toJson .) }}
{{- end }}

{{/* The variables of settings. */}}
{{- define "staunch.settingVariables" -}}
{{- range $name, $value := . }}
- { name: {{ include "staunch.variable" $name }}, value: {{ include "staunch.text" $value | quote }} }
{{- end }}
{{- end }}

{{/* The variables of a node: (list root workload). */}}
{{- define "staunch.nodeVariables" -}}
{{- $root := index . 0 }}{{- $workload := index . 1 -}}
- { name: STAUNCH_NODE, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
- { name: STAUNCH_ADMIN_LISTEN, value: "0.0.0.0:5002" }
- { name: STAUNCH_DRAIN_DELAY, value: "{{ $root.Values.stopDelaySeconds }}s" }
- { name: STAUNCH_DRAIN_SECONDS, value: {{ $root.Values.drainSeconds | quote }} }
- { name: STAUNCH_LOG_FORMAT, value: json }
{{- if eq $workload (include "staunch.front" $root) }}
- { name: STAUNCH_LISTEN, value: "0.0.0.0:5001" }
{{- end }}
# Executors make links, too.
- { name: STAUNCH_BASE_URL, value: {{ include "staunch.publicUrl" $root | quote }} }
{{- with include "staunch.basePath" $root }}
- { name: STAUNCH_BASE_PATH, value: {{ . | quote }} }
{{- end }}
- { name: STAUNCH_AUTH, value: {{ $root.Values.auth.schemes | quote }} }
{{- with $root.Values.trustedProxies }}
- { name: STAUNCH_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- if $root.Values.auth.apiKeySecret.name }}
{{ include "staunch.secretVariable" (list "STAUNCH_API_KEY" $root.Values.auth.apiKeySecret) }}
{{- end }}
{{- with $root.Values.monitoring.keySecret }}
{{- if .name }}
- name: STAUNCH_METRICS_KEY
  valueFrom: { secretKeyRef: { name: {{ .name | quote }}, key: {{ .key | quote }}, optional: true } }
{{- end }}
{{- end }}
{{- with $root.Values.auth.adminName }}
- { name: STAUNCH_ADMIN_NAME, value: {{ . | quote }} }
{{- end }}
{{- if and $root.Values.auth.adminName $root.Values.auth.adminPasswordSecret.name }}
{{ include "staunch.secretVariable" (list "STAUNCH_ADMIN_PASSWORD" $root.Values.auth.adminPasswordSecret) }}
{{- end }}
{{- if $root.Values.secretsKeySecret.name }}
{{ include "staunch.secretVariable" (list "STAUNCH_SECRETS_KEY" $root.Values.secretsKeySecret) }}
{{- end }}
{{ include "staunch.secretVariable" (list "STAUNCH_DATABASE_URL" $root.Values.database.urlSecret) }}
{{ include "staunch.natsVariables" $root | trim }}
{{ include "staunch.settingVariables" $root.Values.settings | trim }}
{{- end }}

{{/* All variables of a container: (list root variables), where the second is what other values than
extraEnv make. A third names the value that makes the API key, if that is not auth.apiKeySecret. */}}
{{- define "staunch.env" -}}
{{- $root := index . 0 }}{{- $made := index . 1 | trim }}
{{- $own := fromYaml (include "staunch.own" $root) }}
{{- if gt (len .) 2 }}{{- $_ := set $own "api-key" (index . 2) }}{{- end }}
{{- $seen := dict }}
{{- range fromYamlArray $made }}
{{- $_ := set $seen (trimSuffix "_FILE" .name) "made" }}
{{- end }}
{{- range $root.Values.extraEnv }}
{{- $variable := trimSuffix "_FILE" .name }}
{{- $setting := $variable | trimPrefix "STAUNCH_" | lower | replace "_" "-" }}
{{- $before := get $seen $variable }}
{{- if and (eq $before "made") (hasKey $root.Values.settings $setting) }}
{{- fail (printf "extraEnv sets %s, and settings.%s says the same: leave one of them out" .name $setting) }}
{{- else if and (eq $before "made") (get $own $setting) }}
{{- fail (printf "extraEnv sets %s, and %s says the same: leave one of them out" .name (get $own $setting)) }}
{{- else if eq $before "made" }}
{{- fail (printf "extraEnv sets %s, which the chart sets itself: leave it out" .name) }}
{{- else if $before }}
{{- fail (printf "extraEnv sets both %s and %s, which say the same: leave one of them out" $before .name) }}
{{- end }}
{{- $_ := set $seen $variable .name }}
{{- end }}
{{- $made }}
{{- with $root.Values.extraEnv }}
{{ toYaml . }}
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
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "staunch.volumes" -}}
- { name: tmp, emptyDir: { sizeLimit: 64Mi } }
{{- if .Values.nats.credsSecret.name }}
- { name: nats-creds, secret: { secretName: {{ .Values.nats.credsSecret.name | quote }}, defaultMode: 0440 } }
{{- end }}
{{- if .Values.nats.caSecret.name }}
- { name: nats-ca, secret: { secretName: {{ .Values.nats.caSecret.name | quote }}, defaultMode: 0444 } }
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
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
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
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
