// @module-tag slow
import { execFile } from "node:child_process";
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { isLeftOut, programFolders, whatIsMissing } from "../support/programs.ts";

const root = join(import.meta.dirname, "../..");
const deploy = join(root, "deploy");
const folder = mkdtempSync(join(tmpdir(), "schultor-deploy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Ends with what the program wrote; a failure shows it too. */
async function run(program: string, args: string[]): Promise<string> {
  const env = { PATH: programFolders.join(":"), HOME: folder };
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: folder, env });
  return stdout + stderr;
}

function testWith(programs: string[], claim: string, work: () => Promise<void>): void {
  test.skipIf(isLeftOut(claim, whatIsMissing(...programs)))(claim, work);
}

testWith(["nginx", "openssl"], "nginx takes its sample", async () => {
  const certificate = ["-keyout", "privkey.pem", "-out", "fullchain.pem", "-subj", "/CN=login.example.org"];
  await run("openssl", [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    ...certificate,
  ]);
  const sample = readFileSync(join(deploy, "nginx/schultor.conf"), "utf8");
  // `nginx -t` binds what it listens on: ports below 1024 are root's, and may be taken.
  const listened = sample.replaceAll(
    /^( *listen) (?:\[::\]:)?\d+(?=[ ;])/gm,
    (_line, listen: string, at: number) => `${listen} unix:${folder}/${at}.sock`,
  );
  expect(listened.match(/unix:/g)).toHaveLength(sample.match(/^ *listen /gm)!.length);
  writeFileSync(
    join(folder, "schultor.conf"),
    listened.replaceAll("/etc/ssl/schultor", folder).replaceAll("/var/log/nginx", folder),
  );
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `pid ${folder}/nginx.pid;\nevents {}\nhttp {\n${places.join("\n")}\ninclude schultor.conf;\n}\n`,
  );
  expect(await run("nginx", ["-t", "-e", "stderr", "-p", folder, "-c", "nginx.conf"])).toContain("test is successful");
});

testWith(["caddy"], "Caddy takes its sample", async () => {
  const sample = join(deploy, "caddy/Caddyfile");
  expect(await run("caddy", ["validate", "--adapter", "caddyfile", "--config", sample])).toContain(
    "Valid configuration",
  );
});

testWith(["promtool"], "each alert is raised when it should be, and none by a service that does well", async () => {
  copyFileSync(join(deploy, "prometheus/alerts.yml"), join(folder, "alerts.yml"));
  copyFileSync(join(import.meta.dirname, "alerts.test.yml"), join(folder, "alerts.test.yml"));
  expect(await run("promtool", ["test", "rules", "alerts.test.yml"])).toContain("SUCCESS");
  expect(await run("promtool", ["check", "config", join(deploy, "prometheus/prometheus.yml")])).toContain("SUCCESS");
});

testWith(["systemd-analyze"], "systemd understands every line of the units", async () => {
  const units = globSync(join(deploy, "systemd/*.service")).map((unit) => {
    const copy = join(folder, basename(unit));
    const text = readFileSync(unit, "utf8").replaceAll("/opt/schultor/node_modules/node/bin/node", process.execPath);
    writeFileSync(copy, text.replaceAll("/opt/schultor", root));
    return copy;
  });
  expect(units).toHaveLength(3);
  expect(await run("systemd-analyze", ["verify", ...units])).toBe("");
});

testWith(["systemd-analyze"], "the units leave as little as the README says", async () => {
  const units = globSync(join(deploy, "systemd/*.service"));
  const stated = /rates each unit (\d\.\d)/.exec(readFileSync(join(deploy, "README.md"), "utf8"))?.[1];
  for (const unit of units) {
    const out = await run("systemd-analyze", ["security", "--offline=true", "--no-pager", unit]);
    expect(out.match(/Overall exposure level for \S+: (\d\.\d)/)?.[1], unit).toBe(stated);
  }
});
