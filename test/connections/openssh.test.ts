// @module-tag slow
import { execFile, spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeDataDir } from "../support/data-dir.ts";
import { isLeftOut, programFolders, whatIsMissing } from "../support/programs.ts";
import { openDrop } from "./sftp-client.ts";

// OpenSSH's own client (Debian: openssh-client).

const env = { PATH: programFolders.join(":"), HOME: "/nonexistent" };
const roster = "id;role;first_name;last_name\n1;student;Mia;Albrecht\n";

/** Runs commands as `sftp -b` does, which ends at the first that fails unless it begins with "-". */
async function runSftp(commands: string[], { isBatch = true } = {}) {
  const folder = makeDataDir();
  const key = join(folder, "key");
  await promisify(execFile)("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "export", "-f", key], { env });
  const drop = await openDrop({ goethe: readFileSync(`${key}.pub`, "utf8").trim() });
  writeFileSync(join(folder, "roster.csv"), roster);
  writeFileSync(join(folder, "batch"), `${commands.join("\n")}\n`);
  chmodSync(key, 0o600);
  const options = [
    "StrictHostKeyChecking=no",
    `UserKnownHostsFile=${folder}/known_hosts`,
    "IdentitiesOnly=yes",
    "BatchMode=yes",
  ].flatMap((option) => ["-o", option]);
  const to = ["-F", "none", "-P", String(drop.port), "-i", key, ...options];
  const args = [...to, ...(isBatch ? ["-b", "batch"] : []), "goethe@127.0.0.1"];
  const child = spawn("sftp", args, { cwd: folder, env, timeout: 30_000 });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.end(isBatch ? "" : `${commands.join("\n")}\n`);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output, files: drop.files };
}

function testWith(claim: string, work: () => Promise<void>): void {
  test.skipIf(isLeftOut(claim, whatIsMissing("sftp", "ssh-keygen")))(claim, work);
}

testWith("OpenSSH puts a file, typed or from a batch", async () => {
  for (const isBatch of [true, false]) {
    const { code, output, files } = await runSftp(["put roster.csv"], { isBatch });
    expect([code, files], output).toEqual([
      0,
      [{ userName: "goethe", text: roster, extension: "csv", size: roster.length }],
    ]);
  }
});

testWith("OpenSSH puts a file with its times, renames it when it is whole, and it arrives once", async () => {
  const { code, output, files } = await runSftp(["put -p roster.csv x.csv.filepart", "rename x.csv.filepart x.csv"]);
  expect([code, files.map(({ extension }) => extension)], output).toEqual([0, ["csv"]]);
});

testWith("what OpenSSH may not do is refused, and it goes on", async () => {
  const commands = [
    "ls",
    "-mkdir folder",
    "-cd folder",
    "-get roster.csv back.csv",
    "-rm roster.csv",
    "-put roster.csv folder/x.csv",
  ];
  const { code, output, files } = await runSftp([...commands, "put roster.csv"]);
  expect([code, files.length], output).toEqual([0, 1]);
  expect(output).toMatch(/mkdir .*: Permission denied/);
  expect(output).toMatch(/stat remote.*No such file|Couldn't canonicalize|No such file or directory/);
  const ended = await runSftp(["mkdir folder", "put roster.csv"]);
  expect([ended.code, ended.files]).toEqual([1, []]);
});
