{{- define "forecourt.name" -}}
{{- default .Chart.Name .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end }}

{{- define "forecourt.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "forecourt.labels" -}}
{{ include "forecourt.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "forecourt.alive" -}}
{{- if .Values.metrics.enabled -}}
httpGet: { path: /healthz, port: metrics }
{{- else -}}
exec: { command: ["/usr/bin/forecourt", "health", "/site"] }
{{- end -}}
{{- end }}
