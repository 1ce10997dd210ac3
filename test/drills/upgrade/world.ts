import type { Login, TestApp } from "../../support/token.ts";
import { type } from "../shared/serve.ts";
import type { World } from "../faults/world.ts";

const redirectUri = "http://127.0.0.1:4999/callback";

/**
 * The world of the other drills, made with the commands of a version: the functions of this one would write columns
 * that an earlier schema lacks.
 */
export async function makeWorld(root: string, env: Record<string, string>, receiverUrl: string): Promise<World> {
  const make = async (...args: string[]) =>
    JSON.parse(await type(root, [...args, "--output", "json"], env)) as Record<string, string>;
  const makeApp = async (name: string, ...scopes: string[]): Promise<TestApp> => {
    const asked = scopes.flatMap((scope) => ["--scope", scope]);
    const made = await make("app", "create", "--name", name, "--redirect-uri", redirectUri, ...asked);
    return { clientId: made["clientId"], clientSecret: made["clientSecret"], redirectUri } as TestApp;
  };
  await type(root, ["migrate"], env);
  const address = ["--street", "Schulweg 1", "--zip", "21680", "--city", "Stade", "--state", "NI"];
  const { id: school } = await make("school", "create", "--name", "Deich", "--official-id", "DE-NI-1", ...address);
  const { id: group } = await make("group", "create", "--school", school!, "--name", "5a");
  const name = ["--first-full", "Ada", "--last", "Beispiel", "--role", "STUDENT"];
  const { id: person } = await make("person", "create", "--school", school!, "--group", group!, ...name);
  const app = await makeApp("Lernwelt", "openid", "offline_access", "people:read", "users:read");
  const staff = await makeApp("Verwaltung", "admin:read", "admin:write");
  await make("grant", "set", app.clientId, school!, "--sign-on", "everybody");
  await make("sync", "groups", app.clientId, school!, "--add", group!);
  await make("sync", "on", app.clientId, school!);
  await make("staff", "give", "OPERATOR", "--app", staff.clientId);
  await make("webhook", "add", app.clientId, "--url", receiverUrl, "--type", "person");
  const login = (await make("person", "set-login", person!, "--username", "ada.beispiel")) as unknown as Login;
  return { school, group, app, staff, login } as World;
}
