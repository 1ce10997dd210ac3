import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { runHere } from "./program.ts";
import { makeConfigFolder, makeRemoteWorld } from "./remote-world.ts";
import { serve } from "../support/serve.ts";

const { service, app, make, here, there, local, remote, expectSameReading, expectSameDoing } = await makeRemoteWorld();
const secret = { SCHULTOR_CLIENT_SECRET: app.clientSecret! };

/** Logs in with a folder of its own. */
async function logIn(env: Record<string, string> = secret, ...more: string[]) {
  const folder = await makeConfigFolder();
  const run = runHere({ XDG_CONFIG_HOME: folder, ...env });
  const ended = await run(["remote", "login", service.url, "--client-id", app.clientId, ...more]);
  return { folder, run: runHere({ XDG_CONFIG_HOME: folder }), ended, file: join(folder, "schultor/remotes.json") };
}

test("what is kept of a login is the user's alone, and is not read when others may read it", async () => {
  const { folder, run, file, ended } = await logIn();
  expect(ended).toMatchObject({ code: 0, err: "" });
  expect(ended.out).toContain("OPERATOR");
  expect(ended.out).not.toContain(app.clientSecret);
  const modes = [file, join(folder, "schultor")].map(async (path) => (await stat(path)).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o600, 0o700]);
  expect((await run(["remote", "list"])).out).toContain(service.url);
  for (const [path, mode, right] of [
    [file, 0o640, 0o600] as const,
    [join(folder, "schultor"), 0o755, 0o700] as const,
  ]) {
    await chmod(path, mode);
    expect(await run(["school", "list"])).toMatchObject({ code: 78, err: expect.stringContaining("chmod") as string });
    await chmod(path, right);
  }
});

test("the secret is asked for, comes from the environment or from a file, and a wrong one is not kept", async () => {
  const missing = await logIn({});
  expect(missing.ended).toMatchObject({ code: 2, err: expect.stringContaining("The secret is missing") as string });
  const secretFile = join(await makeConfigFolder(), "secret");
  await writeFile(secretFile, `${app.clientSecret}\n`);
  expect((await logIn({}, "--secret-file", secretFile)).ended.code).toBe(0);
  const wrong = await logIn({ SCHULTOR_CLIENT_SECRET: "wrong" }, "--json");
  expect(wrong.ended.code).toBe(3);
  expect(JSON.parse(wrong.ended.err)).toMatchObject({ code: "invalid_client" });
  await expect(readFile(wrong.file)).rejects.toThrow("ENOENT");
});

test("an address without encryption, and one that is no such service, gets no secret", async () => {
  const run = runHere({ XDG_CONFIG_HOME: await makeConfigFolder(), ...secret });
  const login = (address: string) => run(["remote", "login", address, "--client-id", app.clientId]);
  expect(await login("http://portal.example")).toMatchObject({ code: 2 });
  expect(await login("portal.example")).toMatchObject({ code: 2 });
  const seen: (string | undefined)[] = [];
  const other = await serve((req, res) => {
    seen.push(req.headers.authorization);
    res.end("{}");
  });
  const ended = await login(other);
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("no admin API") as string });
  expect(seen).toEqual([undefined]);
  // One that names another host: a login that is kept for this address goes there alone.
  const moved = await serve((_req, res) => {
    const endpoint = (path: string) => `${other}${path}`;
    const named = { issuer: other, authorization_endpoint: endpoint("/auth"), token_endpoint: endpoint("/token") };
    const scopes = ["urn:any:admin:v1:read"];
    res.end(JSON.stringify({ ...named, revocation_endpoint: endpoint("/revocation"), scopes_supported: scopes }));
  });
  expect(await login(moved)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`receives secrets at ${other}. Nothing was sent.`) as string,
  });
  expect(seen).toEqual([undefined]);
  expect(await login("http://127.0.0.1:9")).toMatchObject({
    code: 1,
    err: expect.stringContaining("reached") as string,
  });
});

test("commands act on a remote service only where it is named, and say so before a change", async () => {
  const { run, folder } = await logIn();
  const name = new URL(service.url).host;
  expect((await run(["school", "list", "--remote", name])).code).toBe(0);
  expect((await run(["school", "list", `--remote=${service.url}/`])).code).toBe(0);
  const school = await make.school();
  const changed = await run(["school", "update", school, "--name", "Neu", "--remote", name]);
  expect(changed).toMatchObject({ code: 0, err: `At ${service.url}, as ${app.clientId}:\n` });
  expect(await run(["school", "list", "--remote", "other"])).toMatchObject({ code: 3 });
  expect((await run(["remote", "use", name])).code).toBe(0);
  expect((await run(["school", "show", school])).out).toContain("Neu");
  const beside = runHere({ XDG_CONFIG_HOME: folder, DATABASE_URL: service.db.url });
  expect((await beside(["check-config", "--remote", "local"])).code).toBe(0);
  expect((await run(["remote", "use", "local"])).code).toBe(0);
  expect((await beside(["check-config"])).code).toBe(0);
  expect((await run(["logout"])).out).toContain("Logged out");
  expect((await run(["remote", "list"])).out).toBe("No remotes.\n");
});

test("what cannot be undone is asked about, with the address", async () => {
  const { folder } = await logIn();
  const asked = runHere({ XDG_CONFIG_HOME: folder, SCHULTOR_REMOTE: service.url }, "n");
  const ended = await asked(["person", "delete", await make.person({ school: await make.school() })]);
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining(`At ${service.url}: `) as string });
});

test("what runs beside the database only says so, and does nothing", async () => {
  expect(await remote.refusal("migrate")).toMatchObject({ exitCode: 3, code: "beside_only" });
  expect(await there(["staff", "list", "--with-ended"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("--with-ended works only on the local database, not on a remote service."),
  });
  expect((await there(["import", "template"])).out).toBe((await here(["import", "template"])).out);
});

test("refusals have the same codes and exit codes as beside the database", async () => {
  const { app: secretary } = await makeStaff(service, "SECRETARY", { schoolIds: [await make.school()] });
  const folder = await makeConfigFolder();
  const env = { XDG_CONFIG_HOME: folder, SCHULTOR_CLIENT_SECRET: secretary.clientSecret! };
  await runHere(env)(["login", service.url, "--client-id", secretary.clientId, "--name", "it"]);
  const run = runHere({ XDG_CONFIG_HOME: folder, SCHULTOR_REMOTE: "it" });
  const forbidden = await run(["app", "list", "--json"]);
  expect([forbidden.code, JSON.parse(forbidden.err)]).toMatchObject([3, { code: "role_forbids" }]);
  for (const args of [
    ["school", "show", "no-such-school"],
    ["school", "show", "a0000000-0000-4000-8000-00000000dead"],
    ["person", "show", "nobody"],
    ["school", "update", await make.school(), "--name", " "],
    ["school", "show"],
  ]) {
    const [wanted, found] = [await here([...args, "--json"]), await there([...args, "--json"])];
    const lastOf = (text: string) => JSON.parse(text.trim().split("\n").at(-1)!) as unknown;
    expect([found.code, lastOf(found.err)]).toEqual([wanted.code, lastOf(wanted.err)]);
  }
});

test("a command prints the same beside the database and from another machine", async () => {
  const [one, two] = [await make.school({ officialId: "DE-NI-1" }), await make.school({ officialId: "DE-NI-2" })];
  await expectSameReading("school", "list", "--limit", "1");
  await expectSameReading("school", "show", "DE-NI-2");
  await expectSameReading("person", "show", await make.person({ school: one }));
  await expectSameDoing(["school", "update", one, "--name", "Neu"], ["school", "update", two, "--name", "Neu"]);
  const record = ["school", "processing-record", "DE-NI-2", "--output", "csv"];
  const { out } = await there([...record, "--language", "de"]);
  expect(out).toContain("Anmeldung");
  expect(out).toBe((await here([...record, "--language", "de"])).out);
  expect((await here(record)).out).toContain("activity,purpose,people,data,withheld,recipients,kept,agreement");
});

test("signing keys are replaced from either, and new ones only with --force", async () => {
  type Active = { active: { algorithm: string; kid: string }[] };
  const algorithms = ({ active }: Active) => active.map(({ algorithm }) => algorithm).sort();
  service.clock.forwardSeconds(90 * 86_400);
  const wanted = await local.ask<Active>("rotate-signing-keys");
  for (const who of [local, remote])
    expect(await who.refusal("rotate-signing-keys")).toMatchObject({ exitCode: 3, code: "signing_key_too_new" });
  expect(algorithms(await remote.ask<Active>("rotate-signing-keys", "--force"))).toEqual(algorithms(wanted));
});
