"""The Debian package: made, checked by lintian, installed below a folder, removed and purged."""

import os
import pathlib

from tools import program

COMPOSE = pathlib.Path(__file__).resolve().parents[2] / "compose"
SCRIPTS = COMPOSE / "packages/deb"
MAINTAINER = "Test of the package <test@packages.example.org>"


def check_debian(folder, made, ran):
    dpkg, lintian, shellcheck = (program(name, name) for name in ("dpkg", "lintian", "shellcheck"))
    as_root = [] if os.getuid() == 0 else [program("fakeroot", "dpkg")]
    scripts = [SCRIPTS / name for name in ("postinst", "prerm", "postrm")]
    ran([shellcheck, *scripts, *(COMPOSE / "packages").glob("*.sh")])
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    (deb,) = made(folder, "deb", "--maintainer", MAINTAINER).glob(f"*_{machine}.deb")
    print(ran([lintian, "--fail-on", "error", "--allow-root", deb]), end="")

    root = folder / "root"
    for name in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    # There is no other package below this folder, and nothing to run scripts in.
    forced = "--force-depends,script-chrootless,not-root,bad-path"
    manage = [*as_root, dpkg, f"--root={root}", forced, f"--log={folder}/dpkg.log"]
    settings, binary = root / "etc/staunch/staunch.toml", root / "usr/bin/staunch"
    units = root / "usr/lib/systemd/system"

    ran([*manage, "--install", deb])
    assert ran([binary, "--version"]).startswith("staunch ")
    assert settings.stat().st_mode & 0o777 == 0o600, "others can read the secrets"
    for unit in ("staunch.service", "staunch.socket", "staunch-setup.service"):
        assert (units / unit).read_bytes() == (COMPOSE / "systemd" / unit).read_bytes()
    settings.write_text("# edited\n")
    ran([*manage, "--install", deb])
    assert settings.read_text() == "# edited\n", "an upgrade changed the settings"
    extra = root / "etc/systemd/system/staunch.service.d/override.conf"
    extra.parent.mkdir(parents=True)
    extra.touch()
    ran([*manage, "--remove", "staunch"])
    assert not binary.exists() and not (units / "staunch.service").exists()
    assert (
        settings.read_text() == "# edited\n" and extra.exists()
    ), "removal takes the settings along"
    ran([*manage, "--purge", "staunch"])
    left = [path for path in root.rglob("*") if path.is_file() and "var/lib/dpkg" not in str(path)]
    assert not left and not settings.parent.exists() and not extra.parent.exists(), left
    the_scripts_move_the_units(folder, ran)
    print("the Debian package installs, upgrades, is removed and purged")


def the_scripts_move_the_units(folder, ran):
    """With a systemctl that writes down what it is asked."""
    systemd, calls, bin = folder / "systemd", folder / "calls", folder / "bin"
    systemd.mkdir()
    bin.mkdir()
    for name in ("postinst", "prerm", "postrm"):
        script = (SCRIPTS / name).read_text()
        assert "/run/systemd/system" in script
        copy = script.replace("/run/systemd/system", str(systemd)).replace(
            "/etc/systemd", str(folder)
        )
        (bin / name).write_text(copy)

    def called(*command, answer=0):
        (bin / "systemctl").write_text(
            f'#!/bin/sh\necho "$@" >>{calls}\n[ "$1" != try-restart ] || exit {answer}\n'
        )
        (bin / "systemctl").chmod(0o755)
        calls.write_text("")
        ran(["sh", bin / command[0], *command[1:]], env={"PATH": f"{bin}:{os.environ['PATH']}"})
        return calls.read_text().splitlines()

    again = "try-restart staunch-setup.service staunch.service"
    stop = "disable --now staunch.socket staunch.service staunch-setup.service"
    assert called("postinst", "configure") == ["daemon-reload"]
    assert called("postinst", "configure", "0.0.9-1") == ["daemon-reload", again]
    # What does not start does not break the upgrade of the machine.
    assert called("postinst", "configure", "0.0.9-1", answer=1) == ["daemon-reload", again]
    assert called("prerm", "upgrade", "0.2.0-1") == []
    assert called("prerm", "remove") == [stop]
    assert called("postrm", "remove") == ["daemon-reload"]
    assert called("postrm", "purge") == ["daemon-reload"]
