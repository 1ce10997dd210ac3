import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);
let count = 0;

async function makeWorld() {
  const city = `Town${(count += 1)}`;
  const address = { address: "Weg 1", addressAddition: null, zipCode: "26603", city };
  const [from, to] = [await make.school(), await make.school({ name: "Schule am Meer", address })];
  const groups = [
    await make.group({ school: from, name: "5a" }),
    await make.group({ school: to, name: "6b" }),
  ] as const;
  const of = (last: string) => ({
    school: from,
    groups: [groups[0]],
    name: { firstFull: "Mia", firstCall: "Mia", last },
  });
  const [one, two] = [await make.person(of("Schmidt")), await make.person(of("Weber"))];
  const { browser: sender } = await makePortalUser(service, "SECRETARY", { schoolIds: [from] });
  const { browser: receiver } = await makePortalUser(service, "SECRETARY", { schoolIds: [to] });
  return { from, to, city, groups, one, two, sender, receiver };
}
type World = Awaited<ReturnType<typeof makeWorld>>;

async function offer({ from, to, city, groups, one, sender }: World) {
  const group = await sender.open(`/admin/schools/${from}/classes/${groups[0]}`);
  expect(group.html).toContain(`/handovers/new?group=${groups[0]}"`);
  const form = await sender.open(`/admin/schools/${from}/handovers/new?group=${groups[0]}`);
  expect(form.html).toContain("Mia Weber");
  const found = await sender.submit(form, "/handovers/new", { step: "search", search: city, person: one });
  expect(found.html).toMatch(/Schule am Meer <span class="hint">Town/);
  return sender.submit(found, "/handovers/new", { person: one, school: to, search: city });
}
const homeOf = async (id: string) => (await service.db.prisma.person.findUniqueOrThrow({ where: { id } })).homeSchoolId;

test("a school offers a pupil of a class, the other sees it on its first page, and accepts with a class and a number", async () => {
  const world = await makeWorld();
  const { from, to, groups, one, two, sender, receiver } = world;
  const offered = await offer(world);
  expect(offered.html).toContain("1 Person ist angeboten. Jetzt entscheidet die andere Schule.");
  const today = await receiver.open(`/admin/schools/${to}/today`);
  expect(today.html).toMatch(/School \d+: Mia Schmidt 5a/);
  const [, address] = /href="([^"]*\/handovers\/[^"]+)"/.exec(today.html)!;
  const shown = await receiver.open(address!);
  expect(shown.html).not.toContain("Weber");
  expect((await receiver.open(`/admin/schools/${to}/people/${one}`)).status).toBe(404);
  const fields = { [`class-${one}`]: groups[1], [`number-${one}`]: "M-7" };
  const accepted = await receiver.submit(shown, "/accept", fields);
  expect(accepted.html).toContain("1 Person ist jetzt an Ihrer Schule.");
  expect(await homeOf(one)).toBe(to);
  expect(await homeOf(two)).toBe(from);
  expect((await receiver.open(`/admin/schools/${to}/people/${one}`)).html).toContain("M-7");
  const again = await receiver.submit(shown, "/accept", fields);
  expect([again.status, again.html.includes("Diese Übergabe ist abgeschlossen")]).toEqual([409, true]);
  expect((await sender.open(`/admin/schools/${from}/handovers`)).html).toContain("angenommen");
});

test("an offer is withdrawn by one side or declined by the other, and names nobody afterwards", async () => {
  const world = await makeWorld();
  const { from, to, one, sender, receiver } = world;
  const withdrawn = await sender.submit(await offer(world), "/withdraw");
  expect(withdrawn.html).toContain("Das Angebot ist zurückgenommen.");
  const offered = await offer(world);
  const [, id] = /handovers\/([0-9a-f-]{36})/.exec(offered.url)!;
  const shown = await receiver.open(`/admin/schools/${to}/handovers/${id!}`);
  const declined = await receiver.submit(shown, "/decline");
  expect(declined.html).toContain("Die Übergabe ist abgelehnt.");
  for (const [browser, school] of [
    [sender, from],
    [receiver, to],
  ] as const)
    expect((await browser.open(`/admin/schools/${school}/handovers/${id!}`)).html).not.toContain("Schmidt");
  expect(await homeOf(one)).toBe(from);
  const { browser: stranger } = await makePortalUser(service, "SECRETARY", { schoolIds: [await make.school()] });
  expect((await stranger.open(`/admin/schools/${to}/handovers/${id!}`)).status).toBe(404);
});
