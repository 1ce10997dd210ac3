import { expect, test } from "vitest";
import { kindOfBrowser, secondsOfSession, sharedDevice, sharedUntil } from "./session.ts";

const webKit = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  ["edge windows", `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`],
  ["chrome windows", `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/141.0.0.0 Safari/537.36`],
  ["firefox linux", "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0"],
  [
    "samsung linux",
    `Mozilla/5.0 (Linux; Android 10; K) ${webKit} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
  ],
  ["other other", "curl/8.5.0"],
  ["other other", undefined],
])("%s", (kind, userAgent) => {
  expect(kindOfBrowser(userAgent)).toBe(kind);
});

test.each([
  [
    "Chrome on a phone",
    `Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/141.0.0.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (X11; Linux x86_64) ${webKit} Chrome/141.0.0.0 Safari/537.36`,
  ],
  [
    "Safari on a tablet",
    "Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15",
  ],
])("%s is the same when it asks for the desktop page", (_browser, mobile, desktop) => {
  expect(kindOfBrowser(desktop)).toBe(kindOfBrowser(mobile));
});

const of = { sessionSeconds: 28_800, now: 1_770_000_000, rule: null };

test("a session on a shared device ends an hour after it began, however much it is used", () => {
  const begun = (secondsAgo: number) => secondsOfSession({ acr: sharedDevice, loginTs: of.now - secondsAgo }, of);
  expect([0, 3000, 3600, 9000].map(begun)).toEqual([3600, 600, 1, 1]);
  expect(secondsOfSession({ acr: sharedDevice, loginTs: of.now }, { ...of, sessionSeconds: 900 })).toBe(900);
});

test("on the device of a class it ends after the lesson", () => {
  const until = (acr: string) => secondsOfSession({ acr, loginTs: of.now - 9000 }, of);
  expect([sharedUntil(of.now + 90), sharedUntil(of.now - 5)].map(until)).toEqual([90, 1]);
});

test("any other session lives on while it is used", () => {
  expect(secondsOfSession({ loginTs: of.now - 9000 }, of)).toBe(28_800);
});
