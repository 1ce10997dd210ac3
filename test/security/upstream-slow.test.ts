// @module-tag slow
import { expect, test } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import { startReceiver } from "../support/receiver.ts";
import { reasonOn, startAttackWorld } from "./upstream-world.ts";

const world = startAttackWorld();

test("a provider that answers slowly or never ends after five seconds, and holds up no other school", async () => {
  const timers = new Set<NodeJS.Timeout>();
  atFileEnd(() => timers.forEach((timer) => clearInterval(timer)));
  const slow = await startReceiver((_call, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    timers.add(setInterval(() => void (response.destroyed || response.write(" ")), 200));
  });
  const never = await startReceiver(() => undefined);
  const connectTo = (issuer: string) => world.connect({}, { ...world.provider, issuer });
  const schools = [await connectTo(slow.url), await connectTo(never.url)];
  const healthy = await world.connect();
  await world.makePerson(healthy, "1");
  const pages = await Promise.all(
    schools.map(async (school) => {
      const browser = world.newBrowser();
      await browser.open(`/s/${school.linkName}`);
      return { browser, school, page: await browser.open("/sign-in") };
    }),
  );
  let open = 0;
  const waiting = pages.flatMap(({ browser, school, page }) =>
    Array.from({ length: 30 }, async () => {
      open += 1;
      const shown = await browser.submit(page, "/upstream", { connection: school.connectionId });
      open -= 1;
      return shown;
    }),
  );
  expect(await world.outcome(healthy, { import_id: "1" })).toBe("signed in");
  expect(open).toBeGreaterThan(0);
  for (const shown of await Promise.all(waiting)) expect(reasonOn(shown)).toBe("UPSTREAM_DOWN");
});
