import { expect, test } from "vitest";
import { addDays } from "../../src/platform/clock.ts";
import { type Counted, type Subject, writeCounts } from "../../src/traffic/index.ts";
import { makeMakers } from "../support/make.ts";
import { jpeg, makePng } from "../support/images.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

// What one test sets is no matter to the others.
const school = await make.school({ name: "Alte Schule" });
const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const address = `/admin/schools/${school}/settings`;
const schoolOf = (id: string) => service.db.prisma.school.findUniqueOrThrow({ where: { id } });
const named = {
  name: "Neue Schule",
  officialId: "NI-4711",
  schoolingLevel: "OBERSCHULE",
  street: "Weg 1",
  addressAddition: "",
  zipCode: "26121",
  city: "Musterstadt",
};

test("a school changes its name and address; twice counts once, and nobody else's change is lost", async () => {
  const page = await browser.open(address);
  const done = await browser.submit(page, "/settings/school", named);
  expect(done.html).toContain("Die Angaben zur Schule sind gespeichert.");
  expect(await schoolOf(school)).toMatchObject({
    name: "Neue Schule",
    officialId: "NI-4711",
    schoolingLevel: "OBERSCHULE",
  });
  expect((await browser.submit(page, "/settings/school", named)).status).toBe(200);
  const late = await browser.submit(page, "/settings/school", { ...named, name: "Ganz andere Schule" });
  expect(late.status).toBe(412);
  expect(late.html).toContain('value="Ganz andere Schule"');
  expect(await schoolOf(school)).toMatchObject({ name: "Neue Schule" });
});

test("an official id of another school is refused, and a schooling level that the list does not have stays", async () => {
  const other = await make.school({ schoolingLevel: "WALDORFSCHULE" });
  const { officialId } = await schoolOf(other);
  const refused = await browser.submit(await browser.open(address), "/settings/school", { ...named, officialId });
  expect([refused.status, refused.html]).toEqual([
    409,
    expect.stringContaining("Diese Schulnummer hat schon eine andere Schule"),
  ]);
  const { browser: another } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [other] });
  const page = await another.open(`/admin/schools/${other}/settings`);
  expect(page.html).toContain('<option value="WALDORFSCHULE" selected>');
});

test("the settings tell how many sign-ins of the last Monday took no password", async () => {
  const monday = new Date("2026-02-02T07:50:00Z");
  const count = (metric: Counted["metric"], counted: number, subject: Subject = `school:${school}`, hour = monday) =>
    writeCounts(service.db.pool, [{ metric, subject, outcome: "done", hour, count: counted }]);
  expect((await browser.open(address)).html).not.toContain("brauchten");
  await count("signIns", 412);
  await count("signIns", 50, `school:${await make.school()}`);
  await count("signIns", 7, `school:${school}`, addDays(monday, -7));
  expect((await browser.open(address)).html).toContain(
    "Von den 412 Anmeldungen bei Apps am 02.02.2026 brauchten 100 % kein Passwort.",
  );
  await count("passwordSignIns", 103);
  expect((await browser.open(address)).html).toContain("brauchten 75 % kein Passwort.");
});

test("a postal code of four digits is refused beside its field", async () => {
  const refused = await browser.submit(await browser.open(address), "/settings/school", { ...named, zipCode: "2612" });
  expect(refused.status).toBe(400);
  expect(refused.html).toMatch(/value="2612"[^>]* aria-describedby="zipCode-fault" aria-invalid="true"/);
  expect(refused.html).toContain('id="zipCode-fault">Eine Postleitzahl in Deutschland hat fünf Ziffern.');
});

test("a school sets how its people sign in", async () => {
  const set = { userNameRule: "RANDOM", passwordKind: "WORDS", mustChangePassword: "on" };
  const more = { ownPasswordFromGrade: "7", helpText: "Frau Probst hilft." };
  const done = await browser.submit(await browser.open(address), "/settings/sign-in", { ...set, ...more });
  expect(done.html).toContain("Die Einstellungen zum Anmelden sind gespeichert.");
  expect(done.html).toContain('value="RANDOM" selected');
  expect(done.html).toContain('value="7" selected');
  expect(done.html).toContain("Frau Probst hilft.");
});

test("a school sets when and where its cards sign in; a wrong network is refused and stays typed", async () => {
  const set = { enabled: "on", grade: "3", from: "07:30", to: "16:00", weekday: "1", secondStep: "PIN" };
  const page = await browser.open(address);
  const refused = await browser.submit(page, "/settings/cards", { ...set, networks: "nonsense" });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain("Ein Netz hat nicht die Form");
  expect(refused.html).toContain(">nonsense</textarea>");
  const done = await browser.submit(refused, "/settings/cards", { ...set, networks: "192.0.2.0/24" });
  expect(done.html).toContain("Die Einstellungen der Anmeldekarten sind gespeichert.");
  expect(done.html).toContain('value="07:30"');
  expect(done.html).toContain(">192.0.2.0/24</textarea>");
});

test("a school uploads its logo, sees it and removes it; what is no PNG or JPEG image is refused", async () => {
  const page = await browser.open(address);
  expect(page.html).toContain("Die Schule hat noch kein Logo.");
  const send = (content: string | Buffer) => browser.sendFile(page, "/settings/logo", { name: "logo.png", content });
  for (const content of ["<svg xmlns='http://www.w3.org/2000/svg'/>", "<!doctype html>", makePng().subarray(0, 50)]) {
    const refused = await send(content);
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining("ein unbeschädigtes PNG oder JPEG")]);
  }
  expect((await send(Buffer.alloc(300_000))).html).toContain("größer als 256 KB");
  const kept = await send(jpeg);
  expect(kept.html).toContain("Das Logo ist gespeichert.");
  const source = `/admin/schools/${school}/logo`;
  expect(kept.html).toContain(`src="${source}"`);
  const image = await browser.once(source);
  expect(Buffer.from(await image.arrayBuffer()).equals(jpeg)).toBe(true);
  expect(Object.fromEntries(image.headers)).toMatchObject({
    "content-type": "image/jpeg",
    "cache-control": "private, no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'",
  });
  const again = { headers: { "if-none-match": image.headers.get("etag")!, "cache-control": "max-age=0" } };
  expect((await browser.once(source, again)).status).toBe(304);
  const { browser: stranger } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [await make.school()] });
  expect((await stranger.once(source, again)).status).toBe(404);
  expect((await fetch(service.url + source, { redirect: "manual" })).status).toBe(303);
  const { browser: secretary } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const read = await secretary.open(address);
  expect(read.html).toContain(`src="${source}"`);
  expect(read.html).not.toContain("Logo hochladen");
  expect((await browser.submit(kept, "/logo/deletion")).html).toContain("Das Logo ist entfernt.");
  expect((await browser.once(source)).status).toBe(404);
});
