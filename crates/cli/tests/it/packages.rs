//! What people install: the Debian package on a root of its own, the wheel and the packages of npm, the archives with
//! their script and formula, the repository for apt, and the Helm chart. Each needs programs that not every machine has,
//! and says so.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::Deployment;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn is_there(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|found| found.status.success())
}

/// Whether a program is missing, which is said with the package of Debian that has it.
fn lacks(program: &str, of: &str) -> bool {
    let is_missing = !is_there(program);
    if is_missing {
        eprintln!("skipped: {program} is not installed ({of})");
    }
    is_missing
}

#[track_caller]
fn fine(output: Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The program that is tested, which uses the libraries of this machine.
const DYNAMIC: &str = env!("CARGO_BIN_EXE_forecourt");

/// Makes packages of a program that is there.
fn package(program: &Path, out: &Path, what: &str) -> Output {
    let mut package = Command::new(repository().join("dev/package"));
    package.args(["--quick", "--binary"]).arg(program).arg("--out").arg(out).arg(what).output().unwrap()
}

/// The head of a program that asks for no loader: an ELF file of 64 bits without any segment.
fn static_program(folder: &Path) -> PathBuf {
    let mut head = [0; 64];
    head[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    // An executable for x86-64, of the one version there is, with heads of the sizes that they have.
    (head[16], head[18], head[20], head[52], head[54]) = (2, 62, 1, 64, 56);
    let file = folder.join("static");
    std::fs::write(&file, head).unwrap();
    file
}

#[test]
fn a_program_that_uses_libraries_goes_into_no_static_archive_and_no_image() {
    if lacks("readelf", "binutils") {
        return;
    }
    for what in ["static", "image"] {
        let out = tempfile::tempdir().unwrap();
        let refused = package(Path::new(DYNAMIC), out.path(), what);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("want a static program"), "{what}: {said}");
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0, "nothing half made is left");
        let text = out.path().join("text");
        std::fs::write(&text, "#!/bin/sh").unwrap();
        assert!(!package(&text, out.path(), what).status.success(), "{what} of what is no program");
    }
}

#[test]
fn the_debian_package_answers_after_it_was_installed_and_leaves_nothing_when_it_is_purged() {
    // Root of a container may not, unless it was told so.
    let may_mount = || Command::new("unshare").args(["--mount", "true"]).output().is_ok_and(|ran| ran.status.success());
    if !nix::unistd::Uid::effective().is_root() || !is_there("dpkg-deb") || !is_there("chroot") || !may_mount() {
        eprintln!("skipped: installing a package needs root that may mount, dpkg and chroot");
        return;
    }
    let out = tempfile::tempdir().unwrap();
    fine(package(Path::new(DYNAMIC), out.path(), "deb"));
    let made = std::fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().path());
    let package = made.into_iter().find(|file| file.extension().is_some_and(|kind| kind == "deb")).unwrap();
    let tried = Command::new(repository().join("dev/package-try")).arg(package).output().unwrap();
    let said = fine(tried);
    assert!(said.contains("all is well"), "{said}");
}

/// The one file of a folder whose name ends so.
fn made(folder: &Path, ending: &str) -> PathBuf {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    names.into_iter().find(|path| path.to_string_lossy().ends_with(ending)).unwrap()
}

/// The program as both package managers put it into a path: it runs, and what it exits with arrives.
#[test]
fn the_wheel_and_the_package_of_npm_bring_the_program() {
    if !["python3", "npm", "node", "readelf", "strip"].iter().all(|name| is_there(name)) {
        eprintln!("skipped: a wheel and a package of npm need python3, npm and binutils");
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let folder = out.path();
    let mut command = Command::new(repository().join("dev/package"));
    command.args(["--quick", "--binary", DYNAMIC, "--out"]).arg(folder).args(["wheel", "npm", "sbom"]);
    fine(command.output().unwrap());
    let sums = Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(folder).output();
    assert_eq!(fine(sums.unwrap()).matches(": OK").count(), 4, "two of npm, and the list of what it is made of");

    fine(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")).output().unwrap());
    let pip = ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"];
    fine(Command::new(folder.join("venv/bin/python")).args(pip).arg(made(folder, ".whl")).output().unwrap());
    let readme = ["-c", "from importlib import metadata; print(metadata.metadata('forecourt').get_payload())"];
    let readme = fine(Command::new(folder.join("venv/bin/python")).args(readme).output().unwrap());
    assert!(readme.starts_with("# Forecourt") && !readme.contains("](docs/"), "its links lead to the repository");
    let npm = ["install", "--silent", "--offline", "--no-audit", "--no-fund", "--prefix"];
    // What everybody asks for finds the program in the package beside it, and says so where that is not installed.
    let (launcher, program) = (made(folder, &format!("{}.tgz", env!("CARGO_PKG_VERSION"))), made(folder, "64.tgz"));
    let installed = |to: &str, packages: &[&PathBuf]| {
        fine(Command::new("npm").args(npm).arg(folder.join(to)).args(packages).output().unwrap());
        folder.join(to).join("node_modules/.bin/forecourt")
    };
    let lacking = Command::new(installed("bare", &[&launcher])).arg("--version").output().unwrap();
    assert_eq!(lacking.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&lacking.stderr).contains("is not installed"));
    installed("node", &[&launcher, &program]);

    for program in ["venv/bin/forecourt", "node/node_modules/.bin/forecourt"] {
        let run = |words: &[&str]| Command::new(folder.join(program)).args(words).output().unwrap();
        assert!(fine(run(&["--version"])).contains(env!("CARGO_PKG_VERSION")), "{program}");
        assert_eq!(run(&["no-such-command"]).status.code(), Some(2), "{program}");
    }
}

/// Programs of Apple are packed on Linux, whose tools can't read them.
#[test]
fn programs_for_macs_are_packed_on_any_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (program, out) = (folder.path().join("program"), folder.path().join("out"));
    // How such a program of 64 bits begins.
    std::fs::write(&program, [0xcf, 0xfa, 0xed, 0xfe]).unwrap();
    let mut command = Command::new(repository().join("dev/package"));
    command.args(["--quick", "--target", "aarch64-apple-darwin", "--binary"]).arg(&program).arg("--out").arg(&out);
    fine(command.args(["wheel", "npm", "static"]).output().unwrap());
    for ending in ["-macosx_11_0_arm64.whl", "-darwin-arm64.tgz", "-aarch64-macos.tar.gz"] {
        made(&out, ending);
    }
}

#[test]
fn the_script_installs_what_the_sums_name_and_nothing_else() {
    if lacks("readelf", "binutils") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (release, to) = (folder.path().join("release"), folder.path().join("bin"));
    fine(package(&static_program(folder.path()), &release, "static"));
    let install = || {
        let mut script = Command::new("sh");
        script.arg(repository().join("deploy/install.sh")).args(["--version", env!("CARGO_PKG_VERSION"), "--from"]);
        script.arg(&release).arg("--to").arg(&to).output().unwrap()
    };
    assert!(fine(install()).contains("installed"));
    assert_eq!(std::fs::read(to.join("forecourt")).unwrap(), std::fs::read(folder.path().join("static")).unwrap());

    std::fs::remove_file(to.join("forecourt")).unwrap();
    let archive = made(&release, ".tar.gz");
    let mut bytes = std::fs::read(&archive).unwrap();
    bytes.push(0);
    std::fs::write(&archive, bytes).unwrap();
    let refused = install();
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("nothing was installed"));
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 0);
    std::fs::remove_file(archive).unwrap();
    assert!(!install().status.success());
}

/// What is made of packages that are there, at the address of a release.
fn made_of_packages(folder: &Path, what: &str) -> Output {
    let mut command = Command::new(repository().join("dev/package"));
    command.args(["--base", "https://example.com/v", "--out"]).arg(folder).arg(what).output().unwrap()
}

#[test]
fn the_formula_and_the_script_of_a_release_name_its_archives() {
    if lacks("readelf", "binutils") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("release");
    let refused = made_of_packages(&release, "formula");
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("has no archive"));
    assert_eq!(std::fs::read_dir(&release).unwrap().count(), 0, "nothing half made is left");

    fine(package(&static_program(folder.path()), &release, "static"));
    fine(made_of_packages(&release, "formula"));
    fine(made_of_packages(&release, "installer"));
    let read = |name: &str| std::fs::read_to_string(release.join(name)).unwrap();
    let archive = made(&release, ".tar.gz").file_name().unwrap().to_string_lossy().into_owned();
    let sums = read("SHA256SUMS");
    let sum = sums.lines().find_map(|line| line.strip_suffix(&archive)).unwrap().trim();
    let formula = read("forecourt.rb");
    assert!(formula.contains(&format!("url \"https://example.com/v/{archive}\"")), "{formula}");
    assert!(formula.contains(&format!("sha256 \"{sum}\"")), "{formula}");
    assert!(read("install.sh").contains("\nfrom='https://example.com/v' "));
}

#[test]
fn the_repository_for_apt_lists_its_packages_with_their_sums() {
    if lacks("dpkg-deb", "dpkg") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (stage, release) = (folder.path().join("stage"), folder.path().join("release"));
    std::fs::create_dir_all(stage.join("DEBIAN")).unwrap();
    std::fs::create_dir(&release).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for architecture in ["amd64", "arm64"] {
        let control = format!(
            "Package: forecourt\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: a <a@b.c>\nDescription: d\n"
        );
        std::fs::write(stage.join("DEBIAN/control"), control).unwrap();
        let file = release.join(format!("forecourt_{version}_{architecture}.deb"));
        fine(Command::new("dpkg-deb").arg("--build").arg(&stage).arg(file).output().unwrap());
    }
    fine(made_of_packages(&release, "apt"));
    let dist = release.join("apt/dists/stable");
    let index = std::fs::read_to_string(dist.join("Release")).unwrap();
    let (_, sums) = index.split_once("SHA256:\n").unwrap();
    let mut listed = 0;
    for line in sums.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let told = fine(Command::new("sha256sum").arg(dist.join(words[2])).output().unwrap());
        assert!(told.starts_with(words[0]), "{line}");
        listed += 1;
    }
    assert_eq!(listed, 4, "Packages and Packages.gz of two architectures");
    let packages = std::fs::read_to_string(dist.join("main/binary-arm64/Packages")).unwrap();
    let file = packages.lines().find_map(|line| line.strip_prefix("Filename: ")).unwrap();
    assert!(file.ends_with("_arm64.deb") && release.join("apt").join(file).exists());
}

#[test]
fn the_chart_renders_to_what_kubernetes_takes_and_its_deployment_is_right() {
    let python = repository().join(".cache/sdk/helm/bin/python");
    if !python.exists() {
        eprintln!("skipped: the chart's engine is not installed; dev/sdk/setup does it");
        return;
    }
    let site = Deployment::empty();
    let check = repository().join("dev/chart/check.py");
    let mut command = Command::new(python);
    let checked = command.arg(check).arg(repository().join("deploy/helm/forecourt")).arg(site.path()).output();
    assert!(fine(checked.unwrap()).contains("renderings are right"));
    let folder = site.path().display().to_string();
    site.run("check", [folder.as_str()]).fine();
}

#[test]
fn the_folder_of_the_image_holds_what_its_file_copies() {
    let out = tempfile::tempdir().unwrap();
    if !Path::new("/etc/ssl/certs/ca-certificates.crt").exists() || !is_there("readelf") {
        eprintln!("skipped: ca-certificates or readelf is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fine(package(&static_program(folder.path()), out.path(), "image"));
    let context = out.path().join("image");
    let file = std::fs::read_to_string(context.join("Containerfile")).unwrap();
    let copied = file
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .map(|line| line.split_whitespace().find(|word| !word.starts_with("--")).unwrap().to_owned());
    for name in copied {
        assert!(context.join(&name).exists(), "{name}");
    }
    assert!(file.contains("USER 65532") && file.contains("FROM scratch"));
}

/// The first number after these words in a file of the repository.
fn number(file: &str, words: &str) -> u64 {
    let text = std::fs::read_to_string(repository().join(file)).unwrap();
    let (_, after) = text.split_once(words).unwrap_or_else(|| panic!("{file} has no {words}"));
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{file} has no number after {words}"))
}

#[test]
fn whoever_ends_the_daemon_waits_for_as_long_as_it_takes() {
    let going = forecourt::server::GOING.as_secs();
    assert_eq!(number("docs/manual/operating.md", "wait for `seconds` of `[drain]` and "), going);
    let unit = number("deploy/systemd/forecourt.service", "\nTimeoutStopSec=");
    assert_eq!(number("deploy/systemd/forecourt.service", "# At least "), going);
    assert_eq!(number("deploy/systemd/forecourt.service", "has up to "), unit - going);
    let [values, template] =
        ["values.yaml", "templates/deployment.yaml"].map(|file| format!("deploy/helm/forecourt/{file}"));
    let of = |key: &str| number(&values, &format!("\n{key}: "));
    assert!(of("terminationGracePeriodSeconds") >= going + of("drainSeconds") + of("preStopSeconds"));
    assert_eq!(number(&template, "{{- $going := add "), going);
    assert_eq!(number("docs/manual/operating.md", "`TimeoutStopSec` of the systemd unit is "), unit);
    let chart = number("docs/manual/operating.md", "`terminationGracePeriodSeconds` of the chart ");
    assert_eq!(chart, of("terminationGracePeriodSeconds"));
    assert!(number("docs/manual/installing.md", "--stop-timeout ") >= going);
    // Nodes that share a store drain for 5 seconds unless they are told otherwise.
    assert!(number("deploy/compose/compose.yaml", "stop_grace_period: ") >= going + 5);
}
