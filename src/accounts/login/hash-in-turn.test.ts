import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeHashInTurn } from "./password.ts";

test("passwords of several requests are hashed two at a time, and each gets its hash", async () => {
  let [running, most] = [0, 0];
  const hashInTurn = makeHashInTurn(async (password) => {
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    running -= 1;
    return `hash of ${password}`;
  });
  const passwords = Array.from({ length: 20 }, (_, index) => `password ${index}`);
  const hashes = await Promise.all(passwords.map(hashInTurn));
  expect(hashes).toEqual(passwords.map((password) => `hash of ${password}`));
  expect(most).toBe(2);
});
