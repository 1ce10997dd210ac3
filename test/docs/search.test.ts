import { expect, test } from "vitest";
import { loadPublishedDocuments } from "../../src/publish/documents.ts";
import { listGuides } from "../../src/publish/guides.ts";
import { makeSearch } from "../../src/publish/search.ts";

const place = { platform: "schultor", baseUrl: "http://localhost:3000", issuerUrl: "http://localhost:3000" };
const withoutPkce = { deprecatedAt: new Date("2026-12-01"), sunsetAt: new Date("2028-08-01") };
const search = await makeSearch(listGuides({ ...place, withoutPkce }), await loadPublishedDocuments(place));
const pathsOf = (query: string): string[] => search(query).hits.map(({ path }) => path);

// What a partner types, and a page that must be among the first three.
const queries: [query: string, page: RegExp][] = [
  ["pagination", /first-load#pages-and-unchanged-lists/],
  ["cursor", /first-load|errors\/(invalid_cursor|cursor_expired)/],
  ["rate limit", /going-live#limits|errors\/rate_limited/],
  ["429", /errors\/(rate_limited|too_many)|going-live#limits/],
  ["rotate client secret", /going-live#rotating-secrets/],
  ["timeout", /going-live#limits|errors\/timed_out/],
  ["idempotency", /receive-webhooks#rules|webhooks#tag|going-live|errors\/idempotency/],
  ["data protection", /privacy/],
  ["what to delete", /going-live#what-to-delete-when|erasures/],
  ["login", /sign-on-(server|browser|mobile)|sign-on#tag/],
  ["sign in with a mobile app", /sign-on-mobile/],
  ["log out", /logout/],
  ["refresh token", /going-live#tokens|errors\/refresh_token|sign-on-server/],
  ["invalid_grant", /errors\/invalid_grant/],
  ["code verifier", /errors\/code_verifier|sign-on-(mobile|without-pkce)/],
  ["verify webhook signature", /receive-webhooks#verify-then-confirm|webhooks#tag\/Signatures/],
  ["delta sync", /first-load/],
  ["404", /not-found/],
  ["school year change", /school-year/],
  ["CORS", /going-live#cors|sign-on-browser/],
  ["clock skew", /going-live#clock-skew/],
  ["test accounts", /sandbox|first-steps/],
  ["pupils of a class", /getGroup|listSchoolGroups|listSchoolUsers|listSchoolPeople|people|school-year/],
];

test("what partners look for is among the first three pages", () => {
  const lost = queries.filter(([query, page]) => {
    const { isNear } = search(query);
    return (
      isNear ||
      !pathsOf(query)
        .slice(0, 3)
        .some((path) => page.test(path))
    );
  });
  expect(lost).toEqual([]);
});

test("a word with a spelling mistake, and one that no page has, lead to the nearest pages", () => {
  expect(pathsOf("webhok").some((path) => /webhook/.test(path))).toBe(true);
  expect(pathsOf("signatre").some((path) => /webhook/.test(path))).toBe(true);
  const nothing = search("zeppelin");
  expect([nothing.isNear, nothing.hits.length > 3]).toEqual([true, true]);
  expect(search("  ?! ")).toEqual({ hits: [], isNear: false });
});
