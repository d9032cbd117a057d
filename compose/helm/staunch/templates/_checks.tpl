{{/* Refuses values that the schema cannot: each with a sentence that says what to do. */}}
{{- define "staunch.checks" -}}
{{- include "staunch.checkPresent" . }}
{{- include "staunch.checkRelease" . }}
{{- include "staunch.checkNames" . }}
{{- include "staunch.checkSettings" . }}
{{- include "staunch.checkEnv" . }}
{{- include "staunch.checkRules" . }}
{{- include "staunch.checkProxies" . }}
{{- include "staunch.checkScalers" . }}
{{- include "staunch.checkGateway" . }}
{{- include "staunch.checkVolumes" . }}
{{- include "staunch.checkLabels" (list "labels" .Values.labels dict) }}
{{- include "staunch.checkLabels" (list "monitoring.labels" .Values.monitoring.labels .Values.labels) }}
{{- include "staunch.checkDatabase" . }}
{{- include "staunch.checkCallers" . }}
{{- include "staunch.checkHttps" . }}
{{- include "staunch.checkStorage" . }}
{{- include "staunch.checkEgress" . }}
{{- range $value := list "from" "metricsFrom" "egress" }}
{{- include "staunch.checkNull" (list (printf "networkPolicy.%s" $value) (get $.Values.networkPolicy $value)) }}
{{- end }}
{{- end }}

{{/* Refuses a rule that allows every address, those of egressExcept, too. */}}
{{- define "staunch.checkEgress" -}}
{{- range $at, $rule := .Values.networkPolicy.egress }}
{{- if not (get $rule "to") }}
{{- fail (printf "networkPolicy.egress[%d] says no address in `to`, which Kubernetes takes for all, those of egressExcept, too: add the ports to networkPolicy.egressPorts, or write in `to` whom pods may call, such as an ipBlock with the cidr 0.0.0.0/0 and the networks of egressExcept as its except" $at) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Refuses null in a rule of the network, at any depth: (list place value). */}}
{{- define "staunch.checkNull" -}}
{{- $place := index . 0 }}{{- $value := index . 1 }}
{{- if kindIs "invalid" $value }}
{{- fail (printf "%s is null, which Kubernetes takes for left out, and then a rule may allow everything: give it a value, or leave it out" $place) }}
{{- else if kindIs "map" $value }}
{{- range $key, $below := $value }}{{ include "staunch.checkNull" (list (printf "%s.%s" $place $key) $below) }}{{- end }}
{{- else if kindIs "slice" $value }}
{{- range $at, $below := $value }}{{ include "staunch.checkNull" (list (printf "%s[%d]" $place $at) $below) }}{{- end }}
{{- end }}
{{- end }}

{{/* What files/settings.yaml says of settings, and files/own.yaml of those that the chart makes. */}}
{{- define "staunch.settings" -}}
{{ .Files.Get "files/settings.yaml" }}
{{- end }}

{{- define "staunch.own" -}}
{{ .Files.Get "files/own.yaml" }}
{{- end }}

{{/* A Service is called like the release: without a dot, and with a letter at the beginning. */}}
{{- define "staunch.checkRelease" -}}
{{- if not (regexMatch "^[a-z]([a-z0-9-]*[a-z0-9])?$" .Release.Name) }}
{{- fail (printf "the release is called %s, and the Services take its name: choose a name of lowercase letters, digits and dashes that begins with a letter, such as flows" .Release.Name) }}
{{- end }}
{{- end }}

{{/* Helm leaves out a value that is null, its default, too. */}}
{{- define "staunch.checkPresent" -}}
{{- range $value := list "image" "topology" "workloads" "settings" "extraEnv" "extraVolumes" "extraVolumeMounts" "auth" "secretsKeySecret" "nats" "database" "jobs" "service" "publicUrl" "trustedProxies" "ingress" "gateway" "networkPolicy" "monitoring" "drainSeconds" "stopDelaySeconds" "cronJobs" "labels" "podAnnotations" "nodeSelector" "tolerations" "affinity" "priorityClassName" "serviceAccount" }}
{{- if not (hasKey $.Values $value) }}
{{- fail (printf "%s is null, which takes its default away: leave it out, or give it a value; one without content is {}, [] or \"\"" $value) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Names that values have as keys. */}}
{{- define "staunch.checkNames" -}}
{{- range $job, $_ := .Values.cronJobs }}
{{- if not (regexMatch "^[a-z0-9]([a-z0-9-]{0,9}[a-z0-9])?$" $job) }}
{{- fail (printf "cronJobs has %q: write a name of at most 11 lowercase letters, digits and dashes, without a dash at its ends; it becomes the end of the name of a CronJob" $job) }}
{{- end }}
{{- end }}
{{- include "staunch.checkKeys" (list "labels" .Values.labels) }}
{{- include "staunch.checkKeys" (list "podAnnotations" .Values.podAnnotations) }}
{{- include "staunch.checkKeys" (list "nodeSelector" .Values.nodeSelector) }}
{{- include "staunch.checkKeys" (list "monitoring.labels" .Values.monitoring.labels) }}
{{- include "staunch.checkKeys" (list "service.annotations" .Values.service.annotations) }}
{{- include "staunch.checkKeys" (list "ingress.annotations" .Values.ingress.annotations) }}
{{- include "staunch.checkKeys" (list "serviceAccount.annotations" .Values.serviceAccount.annotations) }}
{{- end }}

{{/* The keys of labels and annotations: (list value map). */}}
{{- define "staunch.checkKeys" -}}
{{- $value := index . 0 }}
{{- range $key, $_ := index . 1 }}
{{- if not (regexMatch "^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$" $key) }}
{{- fail (printf "%s has %q: write a key of at most 63 letters, digits, dashes, underscores and dots, with a letter or a digit at its ends, and perhaps a domain and / before it, such as example.com/team" $value $key) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "staunch.checkSettings" -}}
{{- $forms := get (fromYaml (include "staunch.settings" .)) "settings" }}
{{- $own := fromYaml (include "staunch.own" .) }}
{{- range $name, $value := .Values.settings }}
{{- if hasKey $own $name }}
{{- $instead := get $own $name }}
{{- fail (printf "settings.%s is not taken here: %s" $name (ternary (printf "set %s" $instead) "the chart sets it itself; leave it out" (ne $instead ""))) }}
{{- end }}
{{- if not (hasKey $forms $name) }}
{{- fail (printf "settings.%s: there is no such setting%s; docs/configuration.md has all" $name (include "staunch.near" (list $forms $own $name))) }}
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
{{- include "staunch.checkValue" (list (get $forms $name) (printf "settings.%s" $name) (include "staunch.text" $value)) }}
{{- end }}
{{- end }}

{{/* The setting that is meant, or those that begin alike: (list forms own name). */}}
{{- define "staunch.near" -}}
{{- $own := index . 1 }}{{- $name := index . 2 | lower | replace "_" "-" }}
{{- $found := list }}
{{- range $known := keys (index . 0) | sortAlpha }}
{{- if hasKey $own $known }}
{{- else if eq (replace "-" "" $known) (replace "-" "" $name) }}
{{- $found = list $known }}
{{- else if and (eq (first (splitList "-" $known)) (first (splitList "-" $name))) (not (has (replace "_" "-" $name) $found)) }}
{{- $found = append $found $known }}
{{- end }}
{{- end }}
{{- with $found }}; did you mean {{ join ", " . }}?{{ end }}
{{- end }}

{{/* Refuses a text that no node would take: (list form place text). An empty one counts as none. */}}
{{- define "staunch.checkValue" -}}
{{- $form := index . 0 }}{{- $place := index . 1 }}{{- $text := index . 2 }}
{{- if ne $text "" }}
{{- $isRight := true }}
{{- with get $form "pattern" }}{{- $isRight = regexMatch . $text }}{{- end }}
{{- with get $form "never" }}{{- $isRight = and $isRight (not (regexMatch . $text)) }}{{- end }}
{{- if get $form "json" }}
{{- $read := fromJsonArray (printf "[%s]" $text) }}
{{- $isRight = and $isRight (eq (len $read) 1) (kindIs "map" (first $read)) }}
{{- end }}
{{- if not $isRight }}
{{- fail (printf "%s is %q: it %s" $place $text (get $form "must")) }}
{{- end }}
{{- /* Of a number of requests in a time, the time. */}}
{{- $parts := splitList "/" $text }}
{{- with get $form "least" }}
{{- if lt (include "staunch.amount" (last $parts) | float64) (include "staunch.amount" . | float64) }}
{{- fail (printf "%s is %q: it must be at least %s" $place $text .) }}
{{- end }}
{{- end }}
{{- with get $form "most" }}
{{- if gt (include "staunch.amount" (last $parts) | float64) (include "staunch.amount" . | float64) }}
{{- fail (printf "%s is %q: it must be at most %s" $place $text .) }}
{{- end }}
{{- if and (gt (len $parts) 1) (gt (include "staunch.amount" (first $parts) | float64) (mulf 1000000 (include "staunch.amount" (last $parts) | float64))) }}
{{- fail (printf "%s is %q: it %s" $place $text (get $form "must")) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* A number, or a time in milliseconds. */}}
{{- define "staunch.amount" -}}
{{- $number := regexFind "[0-9][0-9_]*" . | replace "_" "" | float64 }}
{{- mulf $number (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000) (regexFind "[a-z]+" .) | default 1) }}
{{- end }}

{{- define "staunch.checkEnv" -}}
{{- $forms := get (fromYaml (include "staunch.settings" .)) "settings" }}
{{- $own := fromYaml (include "staunch.own" .) }}
{{- $before := list }}
{{- range .Values.extraEnv }}
{{- $whole := .name | trimPrefix "STAUNCH_" | lower | replace "_" "-" }}
{{- $setting := .name | trimPrefix "STAUNCH_" | trimSuffix "_FILE" | lower | replace "_" "-" }}
{{- $isSetting := and (hasPrefix "STAUNCH_" .name) (ne .name "STAUNCH_CONFIG") }}
{{- if and $isSetting (not (hasKey $forms $setting)) (not (hasKey $forms $whole)) }}
{{- fail (printf "extraEnv sets %s, and there is no such setting%s; a variable for something else begins otherwise" .name (include "staunch.near" (list $forms $own $setting))) }}
{{- end }}
{{- if has .name (list "STAUNCH_ROLE" "STAUNCH_ROLE_FILE") }}
{{- fail (printf "extraEnv sets %s, and each Deployment says its role: set topology" .name) }}
{{- end }}
{{- if include "staunch.hasLogin" .value }}
{{- fail (printf "the value of %s in extraEnv has a login, which everybody who may read a Deployment can read: use valueFrom, or a variable from a secret, such as $(PASSWORD)" .name) }}
{{- end }}
{{- $isSecret := or (eq .name "AWS_SECRET_ACCESS_KEY") (and $isSetting (get (get $forms $whole | default dict) "secret")) }}
{{- if and $isSecret .value (not (contains "$(" .value)) }}
{{- fail (printf "the value of %s in extraEnv is a secret, which everybody who may read a Deployment can read: use valueFrom with a secretKeyRef" .name) }}
{{- end }}
{{- range regexFindAll "[$]+[(][A-Za-z_][A-Za-z0-9_]*[)]" (.value | default "") -1 }}
{{- $named := regexFind "[A-Za-z_][A-Za-z0-9_]*" . }}
{{- $isEscaped := eq (mod (len (regexFind "^[$]+" .)) 2) 0 }}
{{- if not (or $isEscaped (has $named $before) (hasPrefix "STAUNCH_" $named) (hasPrefix "KUBERNETES_" $named)) }}
{{- fail (printf "extraEnv uses $(%s) where there is no such variable yet, and the text would stay as it is: set %s before it, or write $$(%s) for this text" $named $named $named) }}
{{- end }}
{{- end }}
{{- $before = append $before .name }}
{{- if and $isSetting (hasKey $forms $whole) (not (hasKey $own $whole)) .value (not (contains "$(" .value)) }}
{{- include "staunch.checkValue" (list (get $forms $whole) (printf "the value of %s in extraEnv" .name) .value) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether a text has a URL with a user or a password that is no variable. */}}
{{- define "staunch.hasLogin" -}}
{{- $text := regexReplaceAll "://[^/?#@]*[$][(][^)]+[)]@" (toString .) "" }}
{{- if regexMatch "://[^/?#]*@" $text }}yes{{ end }}
{{- end }}

{{/* What settings are to each other, as files/settings.yaml says it. A file of settings may have the others. */}}
{{- define "staunch.checkRules" -}}
{{- $known := fromYaml (include "staunch.settings" .) }}
{{- $rules := get $known "rules" }}
{{- $hasFile := false }}
{{- range .Values.extraEnv }}{{- if eq .name "STAUNCH_CONFIG" }}{{- $hasFile = true }}{{- end }}{{- end }}
{{- range ternary list $rules.together $hasFile }}
{{- $one := include "staunch.whence" (list $ (first .)) }}{{- $other := include "staunch.whence" (list $ (last .)) }}
{{- if and $one (not $other) }}
{{- fail (printf "%s is set and %s is not: a certificate and its key belong together, so set both, or leave both out" $one (last .)) }}
{{- else if and $other (not $one) }}
{{- fail (printf "%s is set and %s is not: a certificate and its key belong together, so set both, or leave both out" $other (first .)) }}
{{- end }}
{{- end }}
{{- range $rules.apart }}
{{- $one := include "staunch.whence" (list $ (first .)) }}{{- $other := include "staunch.whence" (list $ (last .)) }}
{{- if and $one $other }}
{{- fail (printf "%s and %s are both set: set one of them" $one $other) }}
{{- end }}
{{- end }}
{{- range ternary list $rules.needs $hasFile }}
{{- $given := include "staunch.whence" (list $ .setting) }}
{{- if and $given (not (include "staunch.whence" (list $ .other))) }}
{{- fail (printf "%s is set and %s is not: %s" $given .other .why) }}
{{- end }}
{{- end }}
{{- range $rules.ascending }}
{{- $texts := list }}
{{- range . }}
{{- $plain := include "staunch.plain" (list $ .) }}
{{- if not (include "staunch.whence" (list $ .)) }}{{- $plain = get (get $known.settings .) "default" }}{{- end }}
{{- $texts = append $texts $plain }}
{{- end }}
{{- if and (first $texts) (last $texts) (gt (include "staunch.amount" (first $texts) | float64) (include "staunch.amount" (last $texts) | float64)) }}
{{- fail (printf "%s is %s and %s is %s: the second must be at least the first" (first .) (first $texts) (last .) (last $texts)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where a setting comes from, the values of the chart among it, or nothing: (list root setting). */}}
{{- define "staunch.whence" -}}
{{- $root := index . 0 }}{{- $setting := index . 1 }}
{{- $values := $root.Values }}
{{- if and (eq $setting "secrets-key") $values.secretsKeySecret.name }}secretsKeySecret
{{- else if and (eq $setting "admin-password") $values.auth.adminName $values.auth.adminPasswordSecret.name }}auth.adminPasswordSecret
{{- else }}{{ include "staunch.given" . }}
{{- end }}
{{- end }}

{{/* The text of a setting; nothing where it has none here, or one that only the cluster knows. */}}
{{- define "staunch.plain" -}}
{{- $root := index . 0 }}{{- $setting := index . 1 }}
{{- $text := "" }}
{{- if hasKey $root.Values.settings $setting }}
{{- $text = include "staunch.text" (get $root.Values.settings $setting) }}
{{- end }}
{{- range $root.Values.extraEnv }}
{{- if and (eq .name (include "staunch.variable" $setting)) (not (contains "$(" (.value | default ""))) }}
{{- $text = .value | default "" }}
{{- end }}
{{- end }}
{{- $text }}
{{- end }}

{{/* Whether a setting is on, as far as it can be seen: (list root setting). */}}
{{- define "staunch.isOn" -}}
{{- if has (include "staunch.plain" .) (list "true" "1" "yes" "on") }}yes{{ end }}
{{- end }}

{{- define "staunch.checkProxies" -}}
{{- $forms := get (fromYaml (include "staunch.settings" .)) "settings" }}
{{- range $at, $text := .Values.trustedProxies }}
{{- $place := printf "trustedProxies[%d]" $at }}
{{- if not $text }}{{- fail (printf "%s is empty: leave it out" $place) }}{{- end }}
{{- include "staunch.checkValue" (list (get $forms "trusted-proxies") $place $text) }}
{{- include "staunch.checkBits" (list $place $text) }}
{{- end }}
{{- range $at, $text := .Values.networkPolicy.egressExcept }}
{{- include "staunch.checkBits" (list (printf "networkPolicy.egressExcept[%d]" $at) $text) }}
{{- end }}
{{- end }}

{{/* Refuses bits behind the prefix of an IPv4 network, which 10.1.2.3/8 has: (list place text). */}}
{{- define "staunch.checkBits" -}}
{{- $place := index . 0 }}{{- $text := index . 1 }}
{{- if regexMatch "^[0-9.]+/[0-9]+$" $text }}
{{- $number := 0 }}
{{- range splitList "." (first (splitList "/" $text)) }}{{- $number = add (mul $number 256) (int64 .) }}{{- end }}
{{- $size := 1 }}
{{- range until (sub 32 (last (splitList "/" $text) | int64) | int) }}{{- $size = mul $size 2 }}{{- end }}
{{- if mod $number $size }}
{{- fail (printf "%s is %q: it has bits behind its prefix; write the first address of the network" $place $text) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "staunch.checkScalers" -}}
{{- $root := . }}
{{- range $workload := splitList " " (include "staunch.workloads" .) }}
{{- $own := index $root.Values.workloads $workload }}
{{- if and $own.autoscaling.enabled $own.keda.enabled }}
{{- fail (printf "workloads.%s has autoscaling and keda: both would set the number of pods; enable one" $workload) }}
{{- end }}
{{- range $scaler := list "autoscaling" "keda" }}
{{- $range := index $own $scaler }}
{{- if and $range.enabled (gt (int $range.min) (int $range.max)) }}
{{- fail (printf "workloads.%s.%s: min %v is above max %v" $workload $scaler $range.min $range.max) }}
{{- end }}
{{- end }}
{{- $cpu := or (dig "requests" "cpu" "" $own.resources) (dig "limits" "cpu" "" $own.resources) }}
{{- if and $own.autoscaling.enabled (not $cpu) }}
{{- fail (printf "workloads.%s has autoscaling, which measures the use of what is requested: set its resources.requests.cpu" $workload) }}
{{- end }}
{{- end }}
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
{{- if eq (clean .mountPath) "/" }}
{{- fail (printf "extraVolumeMounts mounts %s at %s, where the program is: choose another path" .name .mountPath) }}
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
{{- $isOff := has (include "staunch.plain" (list $ "database-pooler")) (list "false" "0" "no" "off") }}
{{- if and $.Values.jobs.enabled (not $isOff) (not $.Values.database.ownerUrlSecret.name) }}
{{- fail (printf "%s: the job that migrates needs PostgreSQL itself, not the pooler: name the secret with its address in database.ownerUrlSecret.name, or set jobs.enabled=false and call staunch migrate yourself" .) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "staunch.checkCallers" -}}
{{- $schemes := splitList "," .Values.auth.schemes }}
{{- $given := include "staunch.given" (list . "admin-password") | default (include "staunch.given" (list . "admin-password-file")) }}
{{- if gt (len .Values.auth.adminName) 200 }}
{{- fail (printf "auth.adminName has %d bytes: write a name of at most 200" (len .Values.auth.adminName)) }}
{{- end }}
{{- /* As the node has it, but for code points that Unicode does not assign yet. */}}
{{- if regexMatch "[\\p{Cc}\\p{Cf}\\p{Co}\\p{Zl}\\p{Zp}]|[^\\P{Zs} ]|[\\x{34f}\\x{115f}\\x{1160}\\x{17b4}\\x{17b5}\\x{180b}-\\x{180f}\\x{2800}\\x{3164}\\x{fe00}-\\x{fe0f}\\x{ffa0}\\x{e0100}-\\x{e01ef}]" .Values.auth.adminName }}
{{- fail (printf "auth.adminName is %+q: write a name without control characters and without characters that nobody sees, such as U+200B or U+202E" .Values.auth.adminName) }}
{{- end }}
{{- if and .Values.auth.adminName (not (has "identity" $schemes)) }}
{{- fail (printf "auth.adminName is %q: the first user logs in with a password, and auth.schemes does not have identity; add it, or leave adminName out" .Values.auth.adminName) }}
{{- end }}
{{- if and .Values.auth.adminName (not .Values.auth.adminPasswordSecret.name) (not $given) }}
{{- fail "auth.adminName needs a password: name its secret in auth.adminPasswordSecret.name" }}
{{- end }}
{{- $given = $given | default (ternary "auth.adminPasswordSecret" "" (ne .Values.auth.adminPasswordSecret.name "")) }}
{{- if and (has "identity" $schemes) $given (not .Values.auth.adminName) }}
{{- fail (printf "%s is set, and the first user has no name: set auth.adminName" $given) }}
{{- end }}
{{- with include "staunch.given" (list . "tls-client-ca") }}
{{- if and $.Values.cronJobs (ne (include "staunch.plain" (list $ "tls-client-auth")) "optional") }}
{{- fail (printf "%s: cronJobs show no certificate: set settings.tls-client-auth=optional" .) }}
{{- end }}
{{- end }}
{{- if has "oidc" $schemes }}
{{- include "staunch.checkIssuer" . }}
{{- end }}
{{- end }}

{{/* The issuer of the scheme `oidc`. */}}
{{- define "staunch.checkIssuer" -}}
{{- range $setting, $what := dict "oidc-issuer" "the URL of the issuer" "oidc-audience" "the `aud` of tokens for this server" }}
{{- $isThere := include "staunch.given" (list $ $setting) }}
{{- range $.Values.extraEnv }}{{- if eq .name "STAUNCH_CONFIG" }}{{- $isThere = "perhaps" }}{{- end }}{{- end }}
{{- if not $isThere }}
{{- fail (printf "auth.schemes has oidc, and there is no %s: set settings.%s to %s" $setting $setting $what) }}
{{- end }}
{{- end }}
{{- $issuer := include "staunch.plain" (list . "oidc-issuer") }}
{{- if and (hasPrefix "http://" $issuer) (not (include "staunch.isOn" (list . "oidc-http"))) }}
{{- fail (printf "settings.oidc-issuer is %q: it must begin with https://, because anyone on the way could replace the keys" $issuer) }}
{{- end }}
{{- $own := include "staunch.plain" (list . "token-issuer") | default "staunch" }}
{{- if and (has "identity" (splitList "," .Values.auth.schemes)) (eq $own $issuer) }}
{{- fail (printf "token-issuer and oidc-issuer are both %q: choose another token-issuer" $own) }}
{{- end }}
{{- end }}

{{- define "staunch.checkHttps" -}}
{{- $public := include "staunch.publicUrl" . }}
{{- if and (include "staunch.isOn" (list . "require-https")) (not (include "staunch.given" (list . "tls-cert"))) (not (hasPrefix "https://" $public)) }}
{{- fail (printf "require-https is set, and links begin with %s: set publicUrl to the https:// address, ingress.tlsSecret, or settings.tls-cert and tls-key" $public) }}
{{- end }}
{{- end }}

{{- define "staunch.checkGateway" -}}
{{- if and .Values.gateway.enabled (not .Values.gateway.name) }}
{{- fail "set gateway.name, the gateway that takes the route" }}
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
