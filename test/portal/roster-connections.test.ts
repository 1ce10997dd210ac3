import { expect, test } from "vitest";
import { textOf } from "../support/browser.ts";
import { makeClientKey } from "../connections/sftp-client.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser } from "../support/portal.ts";
import { oneRosterOf, pupilsOf, startSource, status } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

const address = "sftp://roster.land.example:2022";
const service = await startService({
  env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", SFTP_PORT: "0", SFTP_ADDRESS: address },
});
const make = makeMakers(service.db);
const { prisma } = service.db;
const school = await make.school({ officialId: "DE-P1" });
const other = await make.school({ officialId: "DE-P2" });
const base = `/admin/schools/${school}/roster-connections`;
const elsewhere = `/admin/schools/${other}/roster-connections`;
const admin = await makePortalUser(service, null);
await giveRoleTo(service, admin.personId, "SCHOOL_ADMIN", { schoolIds: [school, other] });
const secretary = await makePortalUser(service, null);
await giveRoleTo(service, secretary.personId, "SECRETARY", { schoolIds: [school] });
const { browser } = admin;

test("a program is connected, tested, switched on, run, and its failure is on the page and on Today", async () => {
  const source = await startSource(oneRosterOf(pupilsOf(12), { identifier: "DE-P1" }));
  const list = await browser.open(base);
  expect(textOf(list.html)).toContain("Noch ist kein Programm verbunden.");
  expect(list.html).not.toContain("kind=FOLDER");
  const form = await browser.open(`${base}/new?kind=ONEROSTER`);
  const address = `${source.address}/ims/oneroster/rostering/v1p2`;
  const incomplete = await browser.submit(form, "/new", { name: "Untis", address: "" });
  expect(incomplete.status).toBe(400);
  const fields = { name: "Untis", address, secret: "hush", times: "02:30\n14:00", daysOff: "SUNDAY" };
  const made = await browser.submit(form, "/new", { ...fields, applies: "UNLESS_HELD" });
  expect(textOf(made.html)).toContain("Machen Sie einen Probelauf");
  const { id, ...stored } = await prisma.rosterConnection.findFirstOrThrow({ where: { name: "Untis" } });
  expect(stored).toMatchObject({
    times: ["02:30", "14:00"],
    daysOff: ["SUNDAY"],
    applies: "UNLESS_HELD",
    state: "OFF",
  });
  expect(made.html).not.toContain("hush");

  const one = `${base}/${id}`;
  const tested = await browser.submit(await browser.open(one), "/test");
  expect(textOf(tested.html)).toMatch(/geprüft.*12 neu, 0 geändert, 0 gehen/);
  const on = await browser.submit(await browser.open(one), "/on");
  expect(textOf(on.html)).toMatch(/Nächster Lauf: .*14:00/);
  const ran = await browser.submit(await browser.open(one), "/run");
  expect(textOf(ran.html)).toContain("übernommen");
  const { importId } = await prisma.rosterRun.findFirstOrThrow({ where: { outcome: "APPLIED" } });
  expect(ran.html).toContain(`/admin/schools/${school}/imports/${importId}`);

  source.answers["/ims/oneroster/rostering/v1p2/orgs"] = status(401);
  const failed = await browser.submit(await browser.open(one), "/run");
  expect(textOf(failed.html)).toContain("Das Programm hat die Zugangsdaten abgelehnt");
  expect((await browser.open(`/admin/schools/${school}/today`)).html).toContain(one);

  const changed = await browser.submit(await browser.open(one), "/settings", {
    ...fields,
    applies: "UNLESS_HELD",
    name: "WebUntis",
    secret: "",
  });
  expect(textOf(changed.html)).toContain("Die Verbindung ist geändert.");
  expect(await prisma.rosterConnection.findUniqueOrThrow({ where: { id } })).toMatchObject({
    name: "WebUntis",
    state: "ON",
    times: ["02:30", "14:00"],
  });
  expect((await browser.open(`${elsewhere}/${id}`)).status).toBe(404);
  const shown = await secretary.browser.open(one);
  expect(shown.html).not.toContain("/deletion");
  expect(shown.html).toContain("/test");
  const gone = await browser.submit(await browser.open(one), "/deletion");
  expect(textOf(gone.html)).toContain("Die Verbindung ist gelöscht.");
});

test("each kind that is offered to a school has a form, with a hint at each setting", async () => {
  const list = await browser.open(base);
  const kinds = [...list.html.matchAll(/kind=(\w+)"/g)].map(([, kind]) => kind);
  expect(kinds.toSorted()).toEqual(["HTTPS_FILE", "KELVIN", "ONEROSTER", "SCHULCONNEX", "SFTP", "SVWS"]);
  for (const kind of kinds) {
    const { status, html } = await browser.open(`${base}/new?kind=${kind}`);
    expect([kind, status]).toEqual([kind, 200]);
    const settings = /id="(address|tokenAddress|clientId|userName|version|sourceSchool|schema|platform|publicKeys)"/g;
    for (const [, name] of html.matchAll(settings)) expect(html, kind).toContain(`id="${name}-hint"`);
  }
  expect((await browser.open(`${base}/new?kind=FOLDER`)).status).toBe(404);
});

test("SVWS-Server and UCS@school are connected with their own settings, which stay when others change", async () => {
  const address = "https://127.0.0.1:1";
  const svws = { address, userName: "export", secret: "hush", schema: "gymnasium", platform: "Schultor" };
  const kelvin = { address, userName: "kelvin", secret: "hush", sourceSchool: "waldschule", version: "v2" };
  for (const [kind, fields] of Object.entries({ SVWS: svws, KELVIN: kelvin })) {
    const form = await browser.open(`${elsewhere}/new?kind=${kind}`);
    await browser.submit(form, "/new", { name: kind, ...fields });
    const { id, settings } = await prisma.rosterConnection.findFirstOrThrow({ where: { kind } });
    const { secret, ...stored } = fields;
    expect(settings).toEqual(stored);
    const page = await browser.open(`${elsewhere}/${id}`);
    expect(page.html).not.toContain(secret);
    expect(page.html).not.toContain("dropAddress");
    const changed = await browser.submit(page, "/settings", { ...stored, name: `${kind} neu`, secret: "" });
    expect(textOf(changed.html)).toContain("Die Verbindung ist geändert.");
    const after = await prisma.rosterConnection.findUniqueOrThrow({ where: { id } });
    expect(after).toMatchObject({ name: `${kind} neu`, settings: stored });
    expect(after.secret).not.toBeNull();
  }
});

test("a program that sends files finds address, user name and the fingerprint of the server on the page", async () => {
  const drop = (await service.openRosterDrop())!;
  await drop.stop();
  const form = await browser.open(`${elsewhere}/new?kind=SFTP`);
  expect(form.html).not.toContain('name="times"');
  const wrong = await browser.submit(form, "/new", { name: "Export", publicKeys: "ssh-rsa AAAA" });
  expect(wrong.status).toBe(400);
  expect(textOf(wrong.html)).toContain("Lesen Sie den Hinweis am Feld");
  const made = await browser.submit(form, "/new", { name: "Export", publicKeys: makeClientKey().publicKey });
  expect(textOf(made.html)).toContain("tragen Sie im Schulprogramm ein, was unten steht");
  const { id } = await prisma.rosterConnection.findFirstOrThrow({ where: { kind: "SFTP" } });
  for (const shown of [address, id, drop.fingerprint]) expect(made.html).toContain(`value="${shown}"`);
  expect(made.html).not.toContain("/test");
  const on = await browser.submit(made, "/on");
  expect(textOf(on.html)).toContain("Jede Datei, die ankommt, beginnt einen Lauf.");
  expect(textOf((await browser.open(elsewhere)).html)).toContain("wenn eine Datei ankommt");
});
