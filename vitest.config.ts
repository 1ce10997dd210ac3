import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { runSettings } from "./test/support/run-settings.ts";
import { installedServers } from "./test/support/servers.ts";
import { SlowestFirst } from "./test/support/slowest-first.ts";

const everything = ["{src,openapi,demo,prisma,test}/**/*.test.ts"];
// Need a Chromium, Java and Python, or packages of their own, and have configurations of their own.
const apart = "test/{browser,clients,compatibility,examples,generators}/**";
// Tests that do not depend on the version of PostgreSQL.
const sameEverywhere = [
  "{src,openapi,demo,prisma}/**",
  // The portal's pages and the tables of rights go through what test/api/admin asks; test/flows/portal.test.ts has the
  // statement of its tiles.
  "test/{admin,bench,cli,contract,deploy,docs,faults,gates,portal,typescript-client}/**",
  "test/security/{anonymous-disk,denial-of-service,every-operation,event-loop}.test.ts",
  "test/security/{requests,rules}/**",
  // Addresses, cookies, spellings and clients of other makers: their statements run in other files too.
  "test/security/{addresses,behind-a-proxy,cookie-prefixes,import-files,parameters,partner-ids,patterns}.test.ts",
  "test/security/{app-credentials,at-rest,login-hint,school-address,stolen-session,webhook-receivers,wrong-clock}.test.ts",
  // Its statements run in the other files of the folder.
  "test/api/webhooks/retries.test.ts",
  // The statements of a sign-in through a school's login run in test/upstream, those of its settings in other files.
  "test/{api/sign-on,security}/upstream-*.test.ts",
  "test/{api/admin/upstream-set-up,upstream/iserv}.test.ts",
  "test/api/sign-on/{authorization,client-authentication,dead-ends,discovery,empty-parameters,https-issuer}.test.ts",
  "test/api/sign-on/{login-hint,other-methods,public-client,without-pkce}.test.ts",
  "test/flows/{demo-app,demo-table,id-move-client,log-secrets,oauth4webapi,openid-client,sandbox-year}.test.ts",
  "test/flows/upstream-two-services.test.ts",
  "test/platform/!(db|migrate|statistics).test.ts",
  // Each of their statements runs in one of the files that stay, or is the test's own.
  "test/access/{disclosures,events}-model.test.ts",
  "test/api/admin/{app-answers,explanations,groups,import-columns,import-undo,imports,logins,people}.test.ts",
  "test/api/admin/{person-imports,school-logo,token-faults}.test.ts",
  "test/api/idm/{requests,times}.test.ts",
  "test/api/sign-on/{access-ends,fine-scopes,new-password,published-keys,response-modes,scope-platform}.test.ts",
  "test/api/sign-on/{staff-people,waiting}.test.ts",
  "test/flows/{school-year,stream}.test.ts",
  "test/imports/{properties,real-files,repeated}.test.ts",
  "test/security/{card-sessions,guest-school,imports-at-once,passkeys}.test.ts",
];
const shared = { ...runSettings, include: everything, globalSetup: ["test/support/test-server.ts"] };

// TEST_DATABASE_URL: a role that may make databases, on a server of yours, instead of the embedded one.
// TEST_SERVERS=installed: the PostgreSQL servers that Debian's packages put on the machine, instead of the embedded
// one.
const onInstalled = process.env["TEST_SERVERS"] === "installed";

export default defineConfig({
  test: {
    // More than the processors of a small machine, because many tests wait.
    maxWorkers: Math.max(3, Math.ceil(availableParallelism() / 2)),
    sequence: { sequencer: SlowestFirst },
    projects: onInstalled
      ? installedServers().map(({ name }) => ({ test: { ...shared, name, exclude: [apart, ...sameEverywhere] } }))
      : [{ test: { ...shared, name: "embedded", exclude: [apart] } }],
  },
});
