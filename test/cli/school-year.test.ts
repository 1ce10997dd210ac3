import { expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import { startService } from "../support/service.ts";
import { getAppToken } from "../support/token.ts";
import { makeOperator, runHere } from "./program.ts";

const service = await startService();
const run = runHere({ DATABASE_URL: service.db.url });
const { ask, refusal } = makeOperator(run);

const address = ["--street", "Schulweg 1", "--zip", "21680", "--city", "Stade", "--state", "NI"];
const api = async (token: string, path: string) => {
  const response = await fetch(`${service.url}/idm/ep/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: (await response.json()) as unknown };
};

test("what an operator types is what the app sees, from the first school to the last app", async () => {
  const school = (
    await ask("school", "create", "--name", "Grundschule am Deich", "--official-id", "DE-NI-1", ...address)
  ).id;
  const group = (await ask("group", "create", "--school", school, "--name", "1a")).id;
  const create = async (...args: string[]) => (await ask("person", "create", "--school", school, ...args)).id;
  const ada = ["--first-full", "Ada Marie", "--last", "Beispiel"];
  const pupil = await create("--role", "student", "--group", group, ...ada);
  const teacher = await create("--role", "TEACHER", "--first-full", "Bo", "--last", "Muster");
  await ask("membership", "add", group, teacher);

  const scopes = ["schools:read", "groups:read", "people:read", "users:read"] as const;
  const { clientId, clientSecret } = await ask(
    "app",
    "create",
    "--name",
    "Lernwelt",
    "--redirect-uri",
    "https://app.example/cb",
    "--subject-type",
    "SHARED",
    ...scopes.flatMap((scope) => ["--scope", scope]),
  );
  const token = await getAppToken(
    service,
    { clientId: clientId as ClientId, clientSecret: clientSecret, redirectUri: "https://app.example/cb" },
    scopes,
  );
  const listIds = async (what: string) =>
    ((await api(token, `/schools/${school}/${what}`)).body as { id: string }[]).map(({ id }) => id);
  expect(await api(token, "/schools")).toEqual({ status: 200, body: [] });

  await ask("grant", "set", clientId, school, "--sign-on", "roles", "--role", "TEACHER");
  await ask("sync", "groups", clientId, school, "--add", group);
  expect((await api(token, `/schools/${school}`)).status).toBe(404);
  await ask("sync", "on", clientId, school);
  expect(await api(token, "/schools")).toMatchObject({ body: [{ id: school, name: "Grundschule am Deich" }] });
  expect(await listIds("people")).toEqual([pupil, teacher]);
  expect(await listIds("users")).toEqual([teacher]);

  await ask("person", "update", pupil, "--first-full", "Ada", "--last", "Neumann");
  expect(await api(token, `/people/${pupil}`)).toMatchObject({
    body: { name: { firstFull: "Ada", firstCall: "Ada", last: "Neumann" } },
  });
  await ask("group", "rename", group, "--name", "2a");
  expect(await api(token, `/groups/${group}`)).toMatchObject({ body: { name: "2a" } });
  await ask("group", "delete", group);
  expect(await listIds("people")).toEqual([]);
  await ask("group", "restore", group);
  await ask("membership", "remove", group, teacher);
  expect(await listIds("people")).toEqual([pupil]);

  await ask("person", "soft-delete", pupil);
  expect((await api(token, `/people/${pupil}`)).status).toBe(404);
  expect(await refusal("person", "soft-delete", pupil)).toEqual({
    exitCode: 3,
    code: "person_wrong_status",
    error: "The person is deleted already.",
  });
  await ask("person", "restore", pupil);
  const second = (await ask("school", "create", "--name", "Gymnasium", "--official-id", "DE-NI-2", ...address)).id;
  await ask("person", "move", pupil, "--to", second);
  expect(await ask("person", "show", pupil)).toMatchObject({ homeSchoolId: second, groups: [] });
  await ask("affiliation", "join", pupil, school);
  await ask("affiliation", "leave", pupil, school);
  await ask("person", "soft-delete", pupil);
  await ask("person", "delete", pupil, "--yes");
  expect(await refusal("person", "show", pupil)).toMatchObject({ exitCode: 3, code: "person_not_found" });

  await ask("sync", "off", clientId, school);
  expect((await api(token, `/schools/${school}`)).status).toBe(404);
  expect(await ask("grant", "show", clientId, school)).toMatchObject({
    sync: false,
    signOn: { kind: "ROLES", roles: ["TEACHER"] },
    syncedGroupIds: [group],
  });
  await ask("grant", "withdraw", clientId, school);
  expect(await refusal("grant", "withdraw", clientId, school)).toMatchObject({ exitCode: 3, code: "grant_not_found" });
  await ask("app", "delete", clientId, "--yes");
  expect((await api(token, "/schools")).status).toBe(401);

  const actors = await service.db.prisma.audit.groupBy({ by: ["actorId"], where: { action: { not: "token_issued" } } });
  expect(actors.map(({ actorId }) => actorId)).toContain("command-line");
});

test("a secret is shown once: at registration and at rotation, never again", async () => {
  const { clientId, clientSecret } = await ask("app", "create", "--name", "Geheim");
  for (const args of [
    ["app", "show", clientId],
    ["app", "list"],
    ["app", "list", "--json"],
  ]) {
    const { out } = await run(args);
    expect(out).toContain(clientId);
    expect(out).not.toContain(clientSecret);
    expect(out.toLowerCase()).not.toContain("secrethash");
  }
  const rotated = await ask("app", "rotate-secret", clientId, "--keep-old-for", "0");
  expect(rotated).toMatchObject({ oldSecretEndsAt: null });
  expect(rotated.clientSecret).not.toBe(clientSecret);
  const app = { clientId: clientId as ClientId, redirectUri: "" };
  await expect(getAppToken(service, { ...app, clientSecret: clientSecret }, [])).rejects.toThrow("invalid_client");
  await expect(getAppToken(service, { ...app, clientSecret: rotated.clientSecret }, [])).resolves.toBeTypeOf("string");
  expect(await refusal("app", "create", "--name", "Twin", "--client-id", clientId)).toMatchObject({
    exitCode: 3,
    code: "client_id_taken",
  });
  expect(await refusal("app", "update", clientId, "--redirect-uri", "http://app.example/cb")).toMatchObject({
    exitCode: 3,
    code: "uri_refused",
  });
});
