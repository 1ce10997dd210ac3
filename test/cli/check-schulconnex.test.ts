import { expect, test } from "vitest";
import { examine, type CheckSchulconnexSettings } from "../../clients/tools/src/check-schulconnex/index.ts";
import type { Verdict } from "../../clients/tools/src/check-schulconnex/findings.ts";
import { makeProviders } from "./check-schulconnex/faults.ts";
import { startFaultyProvider } from "./check-schulconnex/proxy.ts";
import { demoApp, demoLogin, schulconnex, startDemo } from "../support/api.ts";
import { getUserTokens, issueAppToken } from "../support/token.ts";

const service = await startDemo();
const app = demoApp("demo-lernapp");
const { access_token: userToken } = await getUserTokens(service, app, demoLogin(2), {
  scopes: ["openid", "people:read"],
});

const past = () => new Date(service.clock().getTime() - 7_200_000);
const expiredToken = await issueAppToken({ db: service.db, clock: past }, app, ["people:read"]);

async function examineAt(address: string, given: Partial<CheckSchulconnexSettings> = {}): Promise<Verdict[]> {
  const credentials = {
    clientId: app.clientId,
    clientSecret: app.clientSecret!,
    tokenUrl: `${address}/oauth2/token`,
    scope: "urn:schultor:idm:v1:people:read",
    isPosted: false,
  };
  return examine({
    address: `${address}${schulconnex}`,
    version: "1.4",
    credentials,
    userToken,
    expiredToken: undefined,
    tell: () => undefined,
    ...given,
  });
}

const people = {
  first: "c0000000-0000-4000-8000-000000000001",
  other: "c0000000-0000-4000-8000-000000000005",
  name: "Beispiel",
};
test.each(
  makeProviders(people)
    .flat()
    .map((p) => [p.fault, p] as const),
)("%s", async (_, planted) => {
  const address = await startFaultyProvider(service.url, [planted]);
  const v = await examineAt(address, { expiredToken });
  const ids = v.filter(({ outcome }) => outcome === "differs").map(({ id }) => id);
  if (ids.toSorted().join() !== planted.ids.toSorted().join())
    console.log(planted.fault, JSON.stringify(v.filter(({ outcome }) => outcome === "differs")));
  expect(ids.toSorted()).toEqual(planted.ids.toSorted());
});
