import { expect, test } from "vitest";
import type { components } from "../../generated/openapi/admin.ts";
import { makeClassTeacher, refusalOf } from "../support/admin.ts";
import {
  addressOfName,
  choosePictures,
  headingOf,
  makeClassroom,
  rabbitCode,
  signInByList,
  tap,
} from "../support/class-list.ts";
import { startService } from "../support/service.ts";
import { askFor, exchange, passPages } from "../support/token.ts";

type Login = components["schemas"]["Login"];
type PersonData = components["schemas"]["PersonData"];
type Settings = components["schemas"]["CardSettings"];

const service = await startService({ env: { TRUSTED_PROXIES: "127.0.0.0/8,::1" } });
const room = await makeClassroom(service);
const { prisma } = service.db;
const isSignedIn = async (browser: ReturnType<typeof room.open>, name: string) =>
  (await browser.open("/")).html.includes(`Signed in as ${name}`);

test("a pupil chooses pictures with their card, taps their name and the pictures, and is signed in to the app that waits", async () => {
  const ada = await room.makePupil("Ada", "Lovelace");
  await room.makePupil("Bo");
  const first = room.open();
  const chosen = await choosePictures(first, ada.card.url!);
  expect(new URL(chosen.url).pathname).toBe("/");
  expect(await isSignedIn(first, "Ada")).toBe(true);

  const app = await room.make.app();
  await room.make.grant({ app: app.clientId, school: room.school });
  const device = await room.openDevice();
  const asked = askFor(service, app, {});
  const login = await device.open(asked.address);
  expect(login.html).toContain('href="/class"');
  const names = await device.open("/class");
  expect(headingOf(names)).toBe("Who are you?");
  expect(addressOfName(names, "Ada L.")).toMatch(/^\/class\/pupils\/[\w-]{43}$/);
  expect(names.html).toContain("Bo M. <small>Use your card first.</small>");
  expect(names.html).not.toContain(ada.personId);
  expect(names.html).not.toContain(ada.login.username);
  const back = await passPages(device, await signInByList(device, "Ada L."), ada.login);
  const { body } = await exchange(service, app, { browser: device, asked, back: new URL(back.url) });
  expect(body.id_token).toBeTruthy();
  const line = await prisma.audit.findFirstOrThrow({ where: { personId: ada.personId, action: "class_list_used" } });
  expect(line).toMatchObject({
    schoolId: room.school,
    detail: { cardId: ada.card.cardId, groupIds: [room.group] },
  });
});

test("the next card sign-in asks for the pictures, each tap by itself where scripts do not run", async () => {
  const kim = await room.makeReadyPupil("Kim");
  const browser = room.open();
  let page = await browser.submit(await browser.open(kim.card.url!), "/card");
  expect([headingOf(page), await isSignedIn(browser, "Kim")]).toEqual(["Hello Kim!", false]);
  page = await browser.submit(page, "/card/pictures", { picture: "rabbit" });
  page = await browser.submit(page, "/card/pictures", { picture: "dog" });
  page = await browser.submit(page, "/card/pictures", { back: "yes" });
  expect(page.html).toContain("1 of 3 pictures tapped");
  page = await browser.submit(page, "/card/pictures", { picture: "cake" });
  page = await browser.submit(page, "/card/pictures", { picture: "rabbit" });
  expect(await isSignedIn(browser, "Kim")).toBe(true);
});

test("three equal pictures, and others the second time, are not taken", async () => {
  const { card, personId } = await room.makePupil("Lea");
  const browser = room.open();
  const page = await browser.submit(await browser.open(card.url!), "/card");
  expect((await tap(browser, page, ["dog", "dog", "dog"])).html).toContain("Do not tap the same picture three times.");
  const differs = await tap(browser, await tap(browser, page, rabbitCode), ["rabbit", "cake", "dog"]);
  expect([differs.status, differs.html.includes("the pictures were different")]).toEqual([422, true]);
  const forged = await tap(browser, page, ["dog", "cat", "dragon"]);
  expect(forged.html).toContain("2 of 3 pictures tapped");
  expect(await prisma.pictureCode.count({ where: { personId } })).toBe(0);
});

test("a card asks nobody beyond the grade, and all where the school says so, whatever their class is called", async () => {
  const [eighth, owls] = [
    await room.make.group({ school: room.school, name: "8a" }),
    await room.make.group({ school: room.school, name: "Eulen" }),
  ];
  const [old, owl] = [await room.makePupil("Old", "Muster", [eighth]), await room.makePupil("Owl", "Muster", [owls])];
  const sees = async ({ card }: typeof old) => {
    const browser = room.open();
    return headingOf(await browser.submit(await browser.open(card.url!), "/card"));
  };
  expect([await sees(old), await sees(owl)]).not.toContain("Choose three pictures");
  await room.setCards({ pictureCodeUpToGrade: 13 });
  expect([await sees(old), await sees(owl)]).toEqual(["Choose three pictures", "Choose three pictures"]);
  await room.setCards();
});

test("pupils change their pictures in their account, after the present ones or with their password", async () => {
  const { personId, login } = await room.makeReadyPupil("Max");
  const device = await room.openDevice();
  await signInByList(device, "Max M.");
  expect((await device.open("/account")).html).toContain("/sign-in/pictures?return=/account");
  const page = await device.open("/sign-in/pictures?return=/account");
  const choose = await tap(device, page, rabbitCode);
  const pictures = ["key", "car", "key"];
  const done = await tap(device, await tap(device, choose, pictures), pictures);
  expect(new URL(done.url).pathname).toBe("/account");
  const own = room.open();
  await own.submit(await own.open("/sign-in"), "/sign-in", login);
  await prisma.pictureCode.update({ where: { personId }, data: { wrongTries: 5 } });
  const again = await own.open("/sign-in/pictures");
  expect(headingOf(again)).toBe("Choose three pictures");
  await tap(own, await tap(own, again, rabbitCode), rabbitCode);
  expect(await prisma.pictureCode.findUniqueOrThrow({ where: { personId } })).toMatchObject({ wrongTries: 0 });
  expect(await prisma.audit.count({ where: { personId, action: "picture_code_chosen" } })).toBe(3);
});

test("staff see whether pictures are chosen, and the data of the person since when, but never which", async () => {
  const { personId } = await room.makeReadyPupil("Noa");
  const stateOf = async () => ((await room.call("GET", `/people/${personId}/login`)).body as Login).pictureCode;
  expect(await stateOf()).toBe("CHOSEN");
  await prisma.pictureCode.update({ where: { personId }, data: { wrongTries: 5 } });
  expect(await stateOf()).toBe("LOCKED");
  const { body } = await room.call("GET", `/people/${personId}/data`);
  expect((body as PersonData).pictureCodes).toMatchObject([
    { what: null, at: service.clock().toISOString(), until: null, clientId: null, schoolId: room.school },
  ]);
  expect((await room.call("DELETE", `/people/${personId}/picture-code`)).status).toBe(204);
  expect((await room.call("DELETE", `/people/${personId}/picture-code`)).status).toBe(204);
  expect(await stateOf()).toBe("NONE");
  expect(await prisma.audit.count({ where: { personId, action: "picture_code_revoked" } })).toBe(1);
});

test("a class teacher opens, reads and closes the list of their class; courses and schools without lists have none", async () => {
  const { call } = await makeClassTeacher(service, { school: room.school, groups: [room.group] });
  const path = `/groups/${room.group}/class-list`;
  const opened = await call("POST", path, { body: { minutes: 15 } });
  const endsAt = new Date(service.clock().getTime() + 15 * 60_000).toISOString();
  const code = expect.stringMatching(/^([2-9A-HJ-NP-RTV-Y]{3}-){2}[2-9A-HJ-NP-RTV-Y]{3}$/) as string;
  expect([opened.status, opened.body]).toEqual([201, { code, url: `${service.url}/class`, endsAt }]);
  expect((await call("GET", path)).body).toEqual({ endsAt });
  expect((await call("DELETE", path)).status).toBe(204);
  expect((await call("GET", path)).body).toEqual({ endsAt: null });
  for (const minutes of [14, 121]) expect((await call("POST", path, { body: { minutes } })).status).toBe(400);

  const course = await room.make.group({ school: room.school, name: "Chor", type: "KURS" });
  const refused = await room.call("POST", `/groups/${course}/class-list`, { body: { minutes: 45 } });
  expect(refusalOf(refused)).toEqual([409, "list_not_possible"]);
  await room.setCards({ classLists: false });
  expect(refusalOf(await call("POST", path, { body: { minutes: 45 } }))).toEqual([409, "class_lists_disabled"]);
  await room.setCards();
});

test("settings that earlier programs leave out stay, and lists without pictures are refused", async () => {
  const path = `/schools/${room.school}/card-settings`;
  const { body } = await room.call("GET", path);
  const { pictureCodeUpToGrade: _grade, classLists: _lists, ...known } = body as Settings;
  expect((await room.call("PUT", path, { body: { ...known, secondStep: "PIN" } })).status).toBe(204);
  expect((await room.call("GET", path)).body).toEqual({ ...(body as Settings), secondStep: "PIN" });
  const refused = await room.call("PUT", path, { body: { ...known, pictureCodeUpToGrade: null } });
  expect(refusalOf(refused)).toEqual([400, "picture_codes_needed"]);
  await room.setCards();
});

test("two pupils with the same short name are told apart by their family names", async () => {
  const group = await room.make.group({ school: room.school, name: "1b" });
  await room.makePupil("Mia", "Sommer", [group]);
  await room.makePupil("Mia", "Schmidt", [group]);
  await room.makePupil("Mia", "Österreich", [group]);
  const device = await room.openDevice((await room.openList(45, group)).code);
  const { html } = await device.open("/class");
  for (const name of ["Mia Schmidt", "Mia Sommer", "Mia Ö."]) expect(html).toContain(`${name} <small>`);
  const left = await device.submit(await device.open("/class"), "/class/leave");
  expect(headingOf(left)).toBe("Sign in with your class");
});
