{{/* Refuses values that the schema cannot: each with a sentence that says what to do. */}}
{{- define "staunch.checks" -}}
{{- include "staunch.checkSettings" . }}
{{- include "staunch.checkEnv" . }}
{{- include "staunch.checkVolumes" . }}
{{- include "staunch.checkLabels" (list "labels" .Values.labels dict) }}
{{- include "staunch.checkLabels" (list "monitoring.labels" .Values.monitoring.labels .Values.labels) }}
{{- include "staunch.checkDatabase" . }}
{{- include "staunch.checkCallers" . }}
{{- include "staunch.checkStorage" . }}
{{- end }}

{{/* What files/settings.yaml says of settings. */}}
{{- define "staunch.settings" -}}
{{ .Files.Get "files/settings.yaml" }}
{{- end }}

{{- define "staunch.checkSettings" -}}
{{- $known := fromYaml (include "staunch.settings" .) }}
{{- range $name, $value := .Values.settings }}
{{- if hasKey $known.own $name }}
{{- $own := get $known.own $name }}
{{- fail (printf "settings.%s is not taken here: %s" $name (ternary (printf "set %s" $own) "the chart sets it itself; leave it out" (ne $own ""))) }}
{{- end }}
{{- if not (hasKey $known.kinds $name) }}
{{- fail (printf "settings.%s: there is no such setting%s; docs/configuration.md has all" $name (include "staunch.near" (list $known.kinds $name))) }}
{{- end }}
{{- end }}
{{- range $name := list "smtp-url" "sql-connections" }}
{{- if hasKey $.Values.settings $name }}
{{- fail (printf "settings.%s may have a password, and everybody who may read a Deployment can read settings: set %s in extraEnv, from a secret" $name (include "staunch.variable" $name)) }}
{{- end }}
{{- end }}
{{- if hasKey .Values.settings "node-address" }}
{{- fail "settings.node-address is one address for all pods, and each has its own: leave it out, or set STAUNCH_NODE_ADDRESS in extraEnv with the address of the pod" }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if include "staunch.hasLogin" $value }}
{{- fail (printf "settings.%s has a login, and everybody who may read a Deployment can read settings: set %s in extraEnv, from a secret" $name (include "staunch.variable" $name)) }}
{{- end }}
{{- include "staunch.checkValue" (list $known (printf "settings.%s" $name) $name (include "staunch.text" $value)) }}
{{- end }}
{{- end }}

{{/* The setting that is meant, or those that begin alike: (list kinds name). */}}
{{- define "staunch.near" -}}
{{- $name := index . 1 | lower | replace "_" "-" }}
{{- $found := list }}
{{- range $known := keys (index . 0) | sortAlpha }}
{{- if eq (replace "-" "" $known) (replace "-" "" $name) }}
{{- $found = list $known }}
{{- else if and (eq (first (splitList "-" $known)) (first (splitList "-" $name))) (not (has (replace "_" "-" $name) $found)) }}
{{- $found = append $found $known }}
{{- end }}
{{- end }}
{{- with $found }}; did you mean {{ join ", " . }}?{{ end }}
{{- end }}

{{/* Refuses a text that no node would take: (list known place setting text). An empty one counts as none. */}}
{{- define "staunch.checkValue" -}}
{{- $known := index . 0 }}{{- $place := index . 1 }}{{- $name := index . 2 }}{{- $text := index . 3 }}
{{- $kind := get $known.kinds $name }}
{{- $range := get $known.ranges $name | default dict }}
{{- if ne $text "" }}
{{- if eq $kind "TIME" }}
{{- if not (regexMatch "^[0-9]{1,12} *(ms|s|m|h|d)$" $text) }}
{{- fail (printf "%s is %q: it must be a time with a unit, such as 500ms, 30s, 5m, 1h or 30d" $place $text) }}
{{- end }}
{{- else if has $kind (list "COUNT" "BYTES" "SECONDS" "MILLISECONDS") }}
{{- if not (regexMatch "^[0-9_]{1,15}$" $text) }}
{{- fail (printf "%s is %q: it must be a whole number above 0" $place $text) }}
{{- end }}
{{- else if eq $kind "BOOL" }}
{{- if not (has $text (list "true" "1" "yes" "on" "false" "0" "no" "off")) }}
{{- fail (printf "%s is %q: it must be true or false" $place $text) }}
{{- end }}
{{- else if eq $kind "COUNT/TIME" }}
{{- if not (regexMatch "^[0-9_]+ */ *[0-9]+ *(ms|s|m|h|d)$" $text) }}
{{- fail (printf "%s is %q: it must be a number of requests and a time, such as 100/1s or 5000/1h" $place $text) }}
{{- end }}
{{- end }}
{{- if has $kind (list "TIME" "COUNT" "BYTES" "SECONDS" "MILLISECONDS") }}
{{- $least := get $range "least" | default (ternary "1ms" "1" (eq $kind "TIME")) }}
{{- $most := get $range "most" }}
{{- $amount := include "staunch.amount" $text | int64 }}
{{- if lt $amount (include "staunch.amount" $least | int64) }}
{{- fail (printf "%s is %q: it must be at least %s" $place $text $least) }}
{{- end }}
{{- if and $most (gt $amount (include "staunch.amount" $most | int64)) }}
{{- fail (printf "%s is %q: it must be at most %s" $place $text $most) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* A number, or a time in milliseconds. */}}
{{- define "staunch.amount" -}}
{{- $number := regexFind "^[0-9_]+" . | replace "_" "" }}
{{- $number = regexReplaceAll "^0+" $number "" | default "0" | int64 }}
{{- mul $number (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000) (regexFind "[a-z]+$" .) | default 1) }}
{{- end }}

{{- define "staunch.checkEnv" -}}
{{- $known := fromYaml (include "staunch.settings" .) }}
{{- range .Values.extraEnv }}
{{- if and (hasPrefix "STAUNCH_" .name) (ne .name "STAUNCH_CONFIG") }}
{{- $setting := .name | trimPrefix "STAUNCH_" | trimSuffix "_FILE" | lower | replace "_" "-" }}
{{- $whole := .name | trimPrefix "STAUNCH_" | lower | replace "_" "-" }}
{{- if not (or (hasKey $known.kinds $setting) (hasKey $known.kinds $whole) (hasKey $known.own $setting)) }}
{{- fail (printf "extraEnv sets %s, and there is no such setting%s; a variable for something else begins otherwise" .name (include "staunch.near" (list $known.kinds $setting))) }}
{{- end }}
{{- if and (hasKey $known.kinds $whole) .value (not (contains "$(" .value)) }}
{{- include "staunch.checkValue" (list $known (printf "the value of %s in extraEnv" .name) $whole .value) }}
{{- end }}
{{- end }}
{{- if eq .name "STAUNCH_ROLE" }}
{{- fail "extraEnv sets STAUNCH_ROLE, and each Deployment says its role: set topology" }}
{{- end }}
{{- if include "staunch.hasLogin" .value }}
{{- fail (printf "the value of %s in extraEnv has a login, which everybody who may read a Deployment can read: use valueFrom, or a variable from a secret, such as $(PASSWORD)" .name) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether a text has a URL with a user or a password that is no variable. */}}
{{- define "staunch.hasLogin" -}}
{{- $text := regexReplaceAll "://[^/?#@]*[$][(][^)]+[)]@" (toString .) "" }}
{{- if regexMatch "://[^/?#]*@" $text }}yes{{ end }}
{{- end }}

{{- define "staunch.checkVolumes" -}}
{{- $volumes := list }}
{{- range .Values.extraVolumes }}
{{- if has .name (concat $volumes (list "tmp" "nats-creds" "nats-ca")) }}
{{- fail (printf "there are two volumes %s: give that of extraVolumes another name" .name) }}
{{- end }}
{{- $volumes = append $volumes .name }}
{{- end }}
{{- $paths := list "/tmp" "/etc/staunch/nats-creds" "/etc/staunch/nats-ca" }}
{{- range .Values.extraVolumeMounts }}
{{- if not (has .name $volumes) }}
{{- fail (printf "extraVolumeMounts mounts the volume %s, which extraVolumes does not have: add it there" .name) }}
{{- end }}
{{- if has (clean .mountPath) $paths }}
{{- fail (printf "extraVolumeMounts mounts %s at %s, where another volume is: choose another path" .name .mountPath) }}
{{- end }}
{{- $paths = append $paths (clean .mountPath) }}
{{- end }}
{{- end }}

{{/* (list value labels taken): neither the labels that the chart makes, nor those of the third. */}}
{{- define "staunch.checkLabels" -}}
{{- $value := index . 0 }}{{- $taken := index . 2 }}
{{- range $key, $_ := index . 1 }}
{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "app.kubernetes.io/component") }}
{{- fail (printf "%s has %s, which the chart makes, and by which Services find pods: leave it out" $value $key) }}
{{- end }}
{{- if hasKey $taken $key }}
{{- fail (printf "%s has %s, which labels has, too: leave one of them" $value $key) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "staunch.checkDatabase" -}}
{{- with include "staunch.given" (list . "database-pooler") }}
{{- $isOff := eq (toString (get $.Values.settings "database-pooler")) "false" }}
{{- if and $.Values.jobs.enabled (not $isOff) (not $.Values.database.ownerUrlSecret.name) }}
{{- fail (printf "%s: the job that migrates needs PostgreSQL itself, not the pooler: name the secret with its address in database.ownerUrlSecret.name, or set jobs.enabled=false and call staunch migrate yourself" .) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "staunch.checkCallers" -}}
{{- $password := or .Values.auth.adminPasswordSecret.name (include "staunch.given" (list . "admin-password")) (include "staunch.given" (list . "admin-password-file")) }}
{{- if and .Values.auth.adminName (not $password) }}
{{- fail "auth.adminName needs a password: name its secret in auth.adminPasswordSecret.name" }}
{{- end }}
{{- $optional := eq (toString (get .Values.settings "tls-client-auth")) "optional" }}
{{- with include "staunch.given" (list . "tls-client-ca") }}
{{- if and $.Values.cronJobs (not $optional) }}
{{- fail (printf "%s: cronJobs show no certificate: set settings.tls-client-auth=optional" .) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "staunch.checkStorage" -}}
{{- $size := regexFind "^[0-9]+" .Values.nats.storage | int64 }}
{{- $mebibytes := mul $size (get (dict "Mi" 1 "Gi" 1024 "Ti" 1048576) (regexFind "[MGT]i$" .Values.nats.storage)) }}
{{- if and .Values.nats.enabled (lt $mebibytes 3072) }}
{{- fail (printf "nats.storage is %s, and the streams reserve almost 3Gi: set 3Gi or more" .Values.nats.storage) }}
{{- end }}
{{- end }}

{{/* The five fields of a schedule, as Kubernetes reads them: (list job schedule). */}}
{{- define "staunch.checkSchedule" -}}
{{- $job := index . 0 }}{{- $schedule := index . 1 }}
{{- $fields := list
  (list "minute" "[0-5]?[0-9]")
  (list "hour" "([01]?[0-9]|2[0-3])")
  (list "day of the month" "(0?[1-9]|[12][0-9]|3[01])")
  (list "month" "(0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))")
  (list "day of the week (0 to 6, or sun to sat)" "([0-6]|(?i:sun|mon|tue|wed|thu|fri|sat))") }}
{{- if not (hasPrefix "@" $schedule) }}
{{- range $at, $text := splitList " " $schedule }}
{{- $field := index $fields $at }}
{{- $one := index $field 1 }}
{{- range splitList "," $text }}
{{- if not (regexMatch (printf "^([*?]|%s(-%s)?)(/[1-9][0-9]*)?$" $one $one) .) }}
{{- fail (printf "cronJobs.%s.schedule: %q is no %s" $job . (first $field)) }}
{{- end }}
{{- $ends := splitList "-" (first (splitList "/" .)) }}
{{- if gt (include "staunch.ordinal" (first $ends) | int) (include "staunch.ordinal" (last $ends) | int) }}
{{- fail (printf "cronJobs.%s.schedule: the range %q ends before it begins: write two ranges, with a comma between them" $job .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The number of a value of a schedule: that of a month or a day of the week by its name, too. */}}
{{- define "staunch.ordinal" -}}
{{- $months := dict "jan" 1 "feb" 2 "mar" 3 "apr" 4 "may" 5 "jun" 6 "jul" 7 "aug" 8 "sep" 9 "oct" 10 "nov" 11 "dec" 12 }}
{{- $days := dict "sun" "0" "mon" 1 "tue" 2 "wed" 3 "thu" 4 "fri" 5 "sat" 6 }}
{{- get (merge $months $days) (lower .) | default (regexReplaceAll "^0+(.)" . "$1") }}
{{- end }}
