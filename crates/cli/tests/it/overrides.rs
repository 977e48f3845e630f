//! Variables of the environment that go before keys, and secrets from files.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Deployment, FREE_PORTS, Ran};

fn deployment() -> Deployment {
    let deployment = Deployment::of_backend("kind = \"echo\"");
    deployment.write("forecourt.toml", "domain = \"demo.localhost\"\nname = \"From the file\"\n");
    deployment
}

fn check(deployment: &Deployment, variables: &[(&str, &str)]) -> Ran {
    let output = deployment.command("check").arg(".").envs(variables.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn a_variable_goes_before_a_key_and_is_served() {
    let variables = [
        ("FORECOURT__NAME", "From outside"),
        ("FORECOURT__LIMITS__PER_ADDRESS__BURST", "7"),
        ("FORECOURT__LIMITS__PER_ADDRESS__PER_SECOND", "1"),
        ("FORECOURT__AGENTS__AGENT__NAME", "Renamed"),
    ];
    let served = deployment().serve_with(&FREE_PORTS, &variables);
    let page = served.curl("/", &["-H", "Accept: text/html"]).text();
    assert!(page.contains("From outside") && page.contains("Renamed"), "{page}");
    let statuses: Vec<u16> = (0..12).map(|_| served.curl("/~agent?user=a", &[]).status).collect();
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[test]
fn check_names_what_comes_from_the_environment_and_never_its_value() {
    let deployment = deployment();
    let ran = check(&deployment, &[("FORECOURT__ADMIN__TOKEN", "hunter2hunter2hunter2"), ("FORECOURT__NAME", "x")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("from the environment: forecourt.toml: admin.token (FORECOURT__ADMIN__TOKEN)"),
        "{ran:?}"
    );
    assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
}

#[test]
fn a_name_that_leads_nowhere_is_refused_with_the_nearest_one() {
    let deployment = deployment();
    for (name, meant) in [
        ("FORECOURT__LISTEN__HTPS", "FORECOURT__LISTEN__HTTPS"),
        ("FORECOURT__LISTN__HTTPS", "FORECOURT__LISTEN__HTTPS"),
        ("FORECOURT__AGENTS__AGNT__NAME", "FORECOURT__AGENTS__AGENT"),
        ("FORECOURT__AGENTS__AGENT__NMAE", "FORECOURT__AGENTS__AGENT__NAME"),
        ("FORECOURT__AGTP__LISTN", "FORECOURT__AGTP__LISTEN"),
    ] {
        let told = check(&deployment, &[(name, "hunter2")]).failed(1);
        assert!(told.contains(name) && told.contains(&format!("did you mean `{meant}`?")), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}

#[test]
fn a_secret_from_a_file_opens_the_door_and_one_that_all_can_read_is_told_of() {
    let deployment = deployment();
    deployment.write("token", "0123456789abcdef0123\n");
    deployment.write("forecourt.toml", "domain = \"demo.localhost\"\n[admin]\ntoken = \"${file:token}\"\n");
    let set = |mode| {
        std::fs::set_permissions(deployment.path().join("token"), std::fs::Permissions::from_mode(mode)).unwrap()
    };
    set(0o644);
    let told = check(&deployment, &[]);
    assert!(told.code == Some(0) && told.stderr.contains("every user of this machine can read the secret"), "{told:?}");
    set(0o600);
    let told = check(&deployment, &[]);
    assert!(told.code == Some(0) && !told.stderr.contains("warning"), "{told:?}");
    let served = deployment.serve();
    let queue = |token: &str| {
        let authorization = format!("Authorization: Bearer {token}");
        crate::wire::curl(&format!("http://127.0.0.1:{}/queue", served.admin), &["-H", &authorization]).status
    };
    assert_eq!([queue("0123456789abcdef0123"), queue("0123456789abcdef012"), queue("${file:token}")], [200, 401, 401]);
}

#[test]
fn a_credential_of_systemd_is_taken_and_a_missing_one_names_the_line() {
    let deployment = deployment();
    deployment.write("forecourt.toml", "domain = \"demo.localhost\"\n[admin]\ntoken = \"${credential:admin-token}\"\n");
    let told = check(&deployment, &[]).failed(1);
    assert!(told.contains("forecourt.toml:3:9") && told.contains("LoadCredential=admin-token:"), "{told}");
    deployment.write("credentials/admin-token", "0123456789abcdef0123");
    let folder = deployment.path().join("credentials").display().to_string();
    assert_eq!(check(&deployment, &[("CREDENTIALS_DIRECTORY", &folder)]).code, Some(0));
}
