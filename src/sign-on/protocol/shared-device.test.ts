import { expect, test } from "vitest";
import { secondsOfSession, sharedDevice } from "./shared-device.ts";

const of = { sessionSeconds: 28_800, now: 1_770_000_000 };

test("a session on a shared device ends an hour after it began, however much it is used", () => {
  const begun = (secondsAgo: number) => secondsOfSession({ acr: sharedDevice, loginTs: of.now - secondsAgo }, of);
  expect([0, 3000, 3600, 9000].map(begun)).toEqual([3600, 600, 1, 1]);
  expect(secondsOfSession({ acr: sharedDevice, loginTs: of.now }, { ...of, sessionSeconds: 900 })).toBe(900);
});

test("any other session lives on while it is used", () => {
  expect(secondsOfSession({ loginTs: of.now - 9000 }, of)).toBe(28_800);
});
