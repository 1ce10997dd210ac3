import { expect, test } from "vitest";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { demoApp, demoLogin, startDemo } from "../support/api.ts";
import { basic, exchange, getAppToken, postToken, signOn } from "../support/token.ts";

test("the log of a whole sign-on, with its reads and its mistakes, holds no token, password, name, hint or client secret", async () => {
  const lines: string[] = [];
  const log = makeLog({ level: "trace", format: "json", to: { write: (line: string) => void lines.push(line) } });
  const service = await startDemo({ log });
  const app = demoApp("demo-lernapp");
  const scopes = ["openid", "offline_access", "profile", "people:read"] as const;

  const signedOn = await signOn(service, app, demoLogin(2), { scopes, params: { login_hint: "student.goethe" } });
  const { body: tokens } = await exchange(service, app, signedOn);
  const again = await exchange(service, app, signedOn);
  const wrong = await postToken(
    service,
    { ...app, clientSecret: "wrong-secret-wrong-secret" },
    { grant_type: "client_credentials" },
  );
  const refreshed = await postToken(service, app, {
    grant_type: "refresh_token",
    refresh_token: tokens.refresh_token!,
  });
  const appToken = await getAppToken(service, app, ["schools:read", "people:read"]);
  for (const path of [
    "/idm/ep/v1/schools",
    "/idm/schulconnex/v1/personen-info",
    "/idm/schulconnex/v1/person-info",
    "/oauth2/userinfo",
  ]) {
    for (const token of [appToken, tokens.access_token])
      await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  }
  await fetch(`${service.url}/oauth2/introspect`, {
    method: "POST",
    headers: basic(app),
    body: new URLSearchParams({ token: appToken }),
  });
  expect([again.status, wrong.status]).toEqual([400, 400]);

  const { username, password } = demoLogin(2);
  const secrets = {
    username,
    password,
    clientSecret: app.clientSecret!,
    wrongSecret: "wrong-secret",
    basic: basic(app)["authorization"]!.slice("Basic ".length),
    code: signedOn.back.searchParams.get("code")!,
    state: signedOn.asked.state,
    verifier: signedOn.asked.verifier,
    accessToken: tokens.access_token,
    idToken: tokens.id_token!,
    refreshToken: tokens.refresh_token!,
    refreshed: refreshed.body.access_token,
    appToken,
    firstName: "Bo Emil",
    lastName: "Muster",
    // The app's id, which the log is to name.
    ...Object.fromEntries(
      signedOn.browser
        .cookies()
        .filter(({ name }) => name !== "_app")
        .map(({ name, value }) => [`cookie ${name}`, value]),
    ),
  };
  const written = lines.join("\n");
  expect(lines.length).toBeGreaterThan(15);
  expect(
    Object.entries(secrets)
      .filter(([, value]) => value !== "" && written.includes(value))
      .map(([name]) => name),
  ).toEqual([]);
  expect(lines.map((line) => (JSON.parse(line) as { clientId?: string }).clientId)).toContain("demo-lernapp");
});
