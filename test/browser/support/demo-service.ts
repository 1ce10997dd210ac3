import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import demo from "../../../demo/demo.json" with { type: "json" };
import { loadDemoWorld } from "../../../demo/load.ts";
import { setPasswordHash } from "../../../src/accounts/index.ts";
import { testDatabase } from "../../support/database.ts";
import { hashQuickly } from "../../support/quick-hash.ts";
import { makeTestClock, startService, type TestService } from "../../support/service.ts";
import { serve } from "../../support/serve.ts";

export type DemoService = TestService & {
  /** Where the demo apps live in this test; every address there shows "app". */
  appUrl: string;
  /** Makes the address at which an app asks the service to sign somebody in. */
  authorizationUrl(wishes?: Record<string, string>): string;
};

/** The service with the demo world, whose apps all live on a server of the test. */
export async function startDemoService(): Promise<DemoService> {
  const db = await testDatabase();
  const appUrl = await startAppServer();
  await loadDemoWorld(db, {
    now: new Date(),
    production: false,
    restoreWindowDays: 30,
    hashPassword: hashQuickly,
    setPasswordHash,
  });
  await db.pool.query("UPDATE app SET redirect_uris = $1, post_logout_redirect_uris = $2, login_url = $3", [
    [`${appUrl}/callback`],
    [`${appUrl}/bye`],
    `${appUrl}/login`,
  ]);
  // Browsers judge cookies and tokens by the real time.
  const service = await startService({ db, clock: makeTestClock(new Date()) });
  return {
    ...service,
    appUrl,
    authorizationUrl: (wishes = {}) => {
      const parameters = {
        client_id: "demo-lernapp",
        redirect_uri: `${appUrl}/callback`,
        scope: "openid profile",
        ...wishes,
      };
      return `${service.url}/oauth2/auth?${new URLSearchParams({ ...commonParameters(), ...parameters }).toString()}`;
    },
  };
}

export const people = {
  student: { username: "student.goethe", password: "demo-student-goethe" },
  teacher: { username: "teacher.goethe", password: "demo-teacher-goethe" },
  twoSchools: { username: "teacher.two", password: "demo-teacher-two" },
  nord: { username: "student.nord", password: "demo-student-nord" },
  gone: { username: "gone.goethe", password: "demo-gone-goethe" },
} as const;

export const platform = demo.platform;

function commonParameters(): Record<string, string> {
  const codeVerifier = randomBytes(32).toString("base64url");
  return {
    response_type: "code",
    state: "state-of-the-app",
    nonce: "nonce-of-the-app",
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  };
}

const files: Record<string, () => { type: string; body: string }> = {
  "/oidc-client-ts.js": () => ({
    type: "text/javascript",
    body: readFileSync(
      new URL("dist/browser/oidc-client-ts.min.js", import.meta.resolve("oidc-client-ts/package.json")),
      "utf8",
    ),
  }),
};
const emptyApp = {
  type: "text/html",
  body: '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>app</title><p>app</p>',
};

const startAppServer = (): Promise<string> =>
  serve((req, res) => {
    const { type, body } = files[req.url ?? ""]?.() ?? emptyApp;
    res.writeHead(200, { "Content-Type": type }).end(body);
  });
