import { expect, test } from "vitest";
import { adviseSignOn, signOnAdviceTexts } from "../../src/platform/advice/sign-on/index.ts";

type Steps = Parameters<typeof adviseSignOn>[0];
const done = (step: string) => ({ step, outcome: "done" as const, code: null });
const refused = (step: string, code: string) => ({ step, outcome: "refused" as const, code });

test.each<[claim: string, steps: Steps, advice: string | null]>([
  ["succeeded", [done("authorize"), done("code"), done("token")], null],
  ["read userinfo", [done("token"), done("userinfo")], null],
  ["waits for the person", [done("authorize"), { step: "login", outcome: "waiting", code: null }], "waiting"],
  ["left its code", [done("authorize"), done("code")], "not_exchanged"],
  ["came with another redirect URI", [refused("authorize", "invalid_redirect_uri")], "redirect_uri"],
  ["lacked PKCE", [refused("authorize", "invalid_request")], "request"],
  ["lacked a parameter at the exchange", [done("code"), refused("token", "invalid_request")], "token_request"],
  ["exchanged twice", [done("code"), refused("token", "invalid_grant")], "grant"],
  ["had a wrong secret", [refused("token", "invalid_client")], "client"],
  ["asked for too much", [refused("authorize", "invalid_scope")], "scope"],
  ["was declined", [done("authorize"), refused("consent", "access_denied")], "denied"],
  ["asked silently", [refused("authorize", "login_required")], "silent"],
  ["met something new", [refused("authorize", "new_error")], "other"],
])("a sign-on that %s", (_, steps, advice) => {
  expect(adviseSignOn(steps)?.advice ?? null).toBe(advice);
});

test("an advice is of the step where the sign-on stopped", () => {
  expect(adviseSignOn([done("code"), refused("token", "invalid_grant")])).toMatchObject({ index: 1 });
  expect(adviseSignOn([])).toBeNull();
});

test("the texts are the same in both languages", () => {
  expect(Object.keys(signOnAdviceTexts.de).sort()).toEqual(Object.keys(signOnAdviceTexts.en).sort());
});
