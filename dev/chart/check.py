"""Renders the Helm chart with the real engine, and holds what comes out against the schemas of Kubernetes.

    check.py CHART            renders it in several ways; prints what is wrong, and exits with 1 when anything is
    check.py CHART FOLDER     writes the deployment that the chart has by default into a folder, too
"""

import pathlib
import sys

import kubernetes_validate
import yaml
from helm_python import chart as helm

KUBERNETES = "1.30"
# How grave a message of the linter must be to count.
WARNING = 2
SHARED = {"shared": {"existingSecret": "s"}}
# The name of a case, the values, and the kinds that are made.
CASES = [
    ("as it comes", {}, {"ConfigMap", "Deployment", "PodDisruptionBudget", "Service"}),
    (
        "one node alone",
        {"replicas": 1, "shared": {"existingSecret": ""}},
        {"ConfigMap", "Deployment", "PersistentVolumeClaim", "Service"},
    ),
    (
        "one node on a claim that exists",
        {"replicas": 1, "shared": {"existingSecret": ""}, "persistence": {"existingClaim": "c"}},
        {"ConfigMap", "Deployment", "Service"},
    ),
    (
        "with everything",
        {
            "service": {"type": "LoadBalancer", "port": 443, "agtp": {"enabled": True, "port": 4480}},
            "ingress": {"enabled": True, "className": "nginx", "host": "shop.example", "tlsSecret": "t"},
            "filesVolume": {"persistentVolumeClaim": {"claimName": "site"}},
            "environmentSecrets": ["keys"],
            "imagePullSecrets": [{"name": "pull"}],
            "nodeSelector": {"disk": "ssd"},
            "podAnnotations": {"a": "b"},
            "preStopSeconds": 5,
            "metrics": {"enabled": True, "scrapeAnnotations": True},
        },
        {"Deployment", "Ingress", "PodDisruptionBudget", "Service"},
    ),
]
# Values that must be refused, with a word of why.
REFUSED = [
    ({"replicas": 3, "shared": {"existingSecret": ""}}, "shared.existingSecret"),
    ({"replicas": 0}, "replicas"),
    ({"replics": 3}, "replics"),
    ({"terminationGracePeriodSeconds": 10}, "terminationGracePeriodSeconds"),
    ({"drainSeconds": 21}, "terminationGracePeriodSeconds"),
    ({"drainSeconds": 301}, "drainSeconds"),
    ({"metrics": {"port": 80}}, "port"),
]


def rendered(chart, values):
    chart.validate_schema(chart.merge_values(values))
    return chart.render(values, name="demo", namespace="prod")


def problems_of(name, files, kinds):
    found = set()
    for path, text in files.items():
        if not path.endswith(".yaml"):
            continue
        for manifest in filter(None, yaml.safe_load_all(text)):
            found.add(manifest["kind"])
            try:
                kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
            except kubernetes_validate.ValidationError as error:
                yield f"{name}: {path}: {'.'.join(map(str, error.path))}: {error.message}"
            if manifest["kind"] == "Deployment":
                yield from (f"{name}: {wrong}" for wrong in pod_problems(manifest))
    if found != kinds:
        yield f"{name}: made {sorted(found)}, not {sorted(kinds)}"


def pod_problems(deployment):
    pod = deployment["spec"]["template"]["spec"]
    container = pod["containers"][0]
    if not pod["securityContext"]["runAsNonRoot"] or not container["securityContext"]["readOnlyRootFilesystem"]:
        yield "the container may be root or write to its own files"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        if probe not in container:
            yield f"there is no {probe}"
    probe, drain = container["readinessProbe"], drain_seconds(container)
    if probe["periodSeconds"] * probe["failureThreshold"] + probe["timeoutSeconds"] > drain:
        yield f"a node that goes is passed by later than its sockets are closed, after {drain} s"
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    probes = [container[name] for name in ("startupProbe", "livenessProbe", "readinessProbe") if name in container]
    asked = {probe.get("httpGet", {}).get("port") for probe in probes}
    if asked != ({"metrics"} if "metrics" in ports else {None}):
        yield f"the probes ask at {asked}, and the ports are {ports}"
    scraped = pod_port(deployment)
    if scraped is not None and scraped != ports.get("metrics"):
        yield f"a Prometheus is led to the port {scraped}"
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    if mounted != {volume["name"] for volume in pod["volumes"]}:
        yield "volumes and mounts differ"
    environment = {variable["name"] for variable in container["env"]}
    if ("metrics" in ports) != ({"FORECOURT__METRICS__LISTEN", "FORECOURT__METRICS__TOKEN"} <= environment):
        yield "the port of metrics is open without a socket and a token, or the other way round"
    data = next(volume for volume in pod["volumes"] if volume["name"] == "data")
    if "FORECOURT__STORE__URL" not in environment and "persistentVolumeClaim" not in data:
        yield "the state of a node that shares no store does not outlast its pod"


def pod_port(deployment):
    annotations = deployment["spec"]["template"]["metadata"].get("annotations", {})
    port = annotations.get("prometheus.io/port")
    return port and int(port)


def drain_seconds(container):
    return next(int(one["value"]) for one in container["env"] if one["name"] == "FORECOURT__DRAIN__SECONDS")


def write_files(chart, folder):
    for name, text in chart.values["files"].items():
        file = pathlib.Path(folder, name.replace("__", "/"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def main(path, folder=None):
    chart = helm.Chart.load(path)
    if folder:
        write_files(chart, folder)
    wrong = [f"lint: {message}" for message in lint_messages(path)]
    for name, values, kinds in CASES:
        wrong += problems_of(name, rendered(chart, values), kinds)
    for values, why in REFUSED:
        try:
            rendered(chart, values)
            wrong.append(f"{values} is not refused")
        except Exception as error:
            if why not in str(error):
                wrong.append(f"{values}: the refusal does not name {why}: {error}")
    print("\n".join(wrong) or f"{len(CASES)} renderings are right, {len(REFUSED)} wrong values are refused")
    return 1 if wrong else 0


def lint_messages(path):
    report = helm.lint(path, {})
    messages = report.get("messages", []) if isinstance(report, dict) else report
    return [message for message in messages if message["severity"] >= WARNING]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
