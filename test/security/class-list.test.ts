import { expect, test } from "vitest";
import { removeMembership } from "../../src/directory/index.ts";
import { changeDirectory } from "../../src/access/index.ts";
import { makeClassTeacher } from "../support/admin.ts";
import { readForm, type Browser } from "../support/browser.ts";
import {
  addressOfName,
  choosePictures,
  headingOf,
  makeClassroom,
  rabbitCode,
  signInByList,
  tap,
  tapName,
} from "../support/class-list.ts";
import { startService } from "../support/service.ts";
import { blockPerson } from "../support/sign-ins.ts";

const service = await startService({ env: { TRUSTED_PROXIES: "127.0.0.0/8,::1" } });
const room = await makeClassroom(service);
const { prisma } = service.db;
const ada = await room.makeReadyPupil("Ada", "Lovelace");
const eve = await room.makeReadyPupil("Eve", "Muster");
const start = service.clock();
const minutesLater = (minutes: number) => service.clock.set(new Date(service.clock().getTime() + minutes * 60_000));

const signedInAs = async (browser: Browser) => /Signed in as (\w+)/.exec((await browser.open("/")).html)?.[1] ?? null;
const wrongCode = "ZZZ-ZZZ-ZZZ";
/** The answer without what differs in every answer. */
const textOf = (html: string) => html.replace(/value="[^"]*"|nonce="[^"]*"|nonce-[^']*/g, "");

test("a code of yesterday, of a closed or replaced list, of a school that switched lists off and an unknown one get the same answer", async () => {
  const unknown = await room.enterCode(room.open(), wrongCode);
  expect([unknown.status, unknown.html.includes("This code does not work")]).toEqual([422, true]);
  const refuses = async ({ code }: { code: string }) => {
    const answer = await room.enterCode(room.open(), code);
    expect([answer.status, textOf(answer.html)]).toEqual([422, textOf(unknown.html)]);
  };
  const replaced = await room.openList();
  const closed = await room.openList();
  await room.call("DELETE", `/groups/${room.group}/class-list`);
  const elsewhere = await makeClassroom(service);
  const other = await elsewhere.openList();
  await elsewhere.setCards({ networks: ["198.51.100.0/24"] });
  const open = await room.openList();
  await room.setCards({ classLists: false });
  for (const list of [replaced, closed, other, open]) await refuses(list);
  await room.setCards();
  const typed = ` ${open.code.toLowerCase().replaceAll("-", " ")}`;
  expect(headingOf(await room.enterCode(room.open(), typed))).toBe("Who are you?");
  minutesLater(24 * 60);
  await refuses(open);
  service.clock.set(start);
});

test("a name of another class, and a handle that was changed, lead back to the own list", async () => {
  const other = await room.make.group({ school: room.school, name: "4a" });
  await room.makeReadyPupil("Zoe", "Muster", [other]);
  const theirs = await room.openDevice((await room.openList(45, other)).code);
  const mine = await room.openDevice();
  const address = addressOfName(await theirs.open("/class"), "Zoe M.")!;
  const own = addressOfName(await mine.open("/class"), "Ada L.")!;
  for (const forged of [address, own.slice(0, -2), `${own}a`, `/class/pupils/${ada.personId}`]) {
    const shown = await mine.open(forged);
    expect([headingOf(shown), shown.html.includes("Zoe M.")]).toEqual(["Who are you?", false]);
  }
  const pad = await theirs.open(address);
  const csrf = /name="csrf" value="([^"]*)"/.exec(pad.html)![1]!;
  const body = new URLSearchParams({ csrf, tapped: "rabbit cake", picture: "rabbit" });
  const sent = await mine.once(address, { method: "POST", body });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, "/class"]);
  expect(await signedInAs(mine)).toBeNull();
});

test("guessed codes are slowed for each address, and never a list that is open", async () => {
  const { code } = await room.openList();
  const guesser = room.open("203.0.113.9");
  const page = await guesser.open("/class");
  const statuses = new Set<number>();
  for (let guess = 0; guess < 105; guess++)
    statuses.add((await guesser.submit(page, "/class", { code: wrongCode })).status);
  expect([...statuses]).toEqual([422, 429]);
  expect((await guesser.submit(page, "/class", { code })).status).toBe(429);
  expect(headingOf(await room.enterCode(room.open(), code))).toBe("Who are you?");
});

test("guessed sequences lock the pictures of a pupil after five, with the right one after that too; their account stays", async () => {
  const pupil = await room.makeReadyPupil("Kim");
  const device = await room.openDevice();
  const page = await tapName(device, "Kim M.");
  const headings = [];
  for (let guess = 0; guess < 5; guess++) headings.push(headingOf(await tap(device, page, ["dog", "dog", "cat"])));
  expect(headings).toEqual([...Array<string>(4).fill("Hello Kim M.!"), "Your pictures are locked"]);
  expect((await device.open("/class")).html).toContain("Kim M. <small>Use your card first.</small>");
  await tap(device, page, rabbitCode);
  expect(await signedInAs(device)).toBeNull();
  const withCard = room.open();
  await withCard.open(pupil.card.url!);
  const locked = await withCard.submit(await withCard.open("/card"), "/card");
  expect([locked.status, headingOf(locked)]).toEqual([403, "Your pictures are locked"]);
  expect(await prisma.audit.count({ where: { personId: pupil.personId, action: "picture_code_locked" } })).toBe(1);
  const withPassword = room.open();
  await withPassword.submit(await withPassword.open("/sign-in"), "/sign-in", pupil.login);
  expect(await signedInAs(withPassword)).toBe("Kim");

  expect((await room.call("DELETE", `/people/${pupil.personId}/picture-code`)).status).toBe(204);
  await choosePictures(room.open(), pupil.card.url!, ["dog", "cat", "dog"]);
  await signInByList(device, "Kim M.", ["dog", "cat", "dog"]);
  expect(await signedInAs(device)).toBe("Kim");
});

test("parallel guesses are all counted", async () => {
  const { personId } = await room.makeReadyPupil("Parallel");
  const device = await room.openDevice();
  const page = await tapName(device, "Parallel M.");
  const guesses = Array.from({ length: 12 }, () => tap(device, page, ["dog", "dog", "cat"]));
  await Promise.all(guesses);
  expect((await prisma.pictureCode.findUniqueOrThrow({ where: { personId } })).wrongTries).toBe(5);
});

test("who guesses the pictures of a whole class is slowed in this lesson", async () => {
  const group = await room.make.group({ school: room.school, name: "2c" });
  const names = ["An", "Ben", "Cem", "Dan", "Eda", "Fee", "Gil", "Han"];
  for (const name of names) await room.makeReadyPupil(name, "Muster", [group]);
  const device = await room.openDevice((await room.openList(45, group)).code);
  const statuses = [];
  for (const name of names) {
    const page = await tapName(device, `${name} M.`);
    for (let guess = 0; guess < 4; guess++) statuses.push((await tap(device, page, ["dog", "dog", "cat"])).status);
  }
  expect(statuses).toEqual([...Array<number>(30).fill(422), 429, 429]);
});

test("a pupil whose card the school refuses does not slow the class", async () => {
  const group = await room.make.group({ school: room.school, name: "3d" });
  for (const name of ["Refused", "Next"]) await room.makeReadyPupil(name, "Muster", [group]);
  const device = await room.openDevice((await room.openList(45, group)).code);
  const page = await tapName(device, "Refused M.");
  await room.setCards({ grades: [4] });
  const statuses = new Set<number>();
  for (let guess = 0; guess < 31; guess++) statuses.add((await tap(device, page, ["dog", "dog", "cat"])).status);
  expect([...statuses]).toEqual([403]);
  await room.setCards();
  await signInByList(device, "Next M.");
  expect(await signedInAs(device)).toBe("Next");
});

test("pictures that are sent again after the sign-in give no further tries to the address", async () => {
  const pupil = await room.makeReadyPupil("Ola");
  minutesLater(1);
  const before = (await prisma.rateLimit.findMany()).map(({ key }) => key);
  const browser = room.open("198.51.100.9");
  const page = await browser.submit(await browser.open(pupil.card.url!), "/card");
  const cookie = browser
    .cookies()
    .map(({ name, value }) => `${name}=${value}`)
    .join("; ");
  const { fields } = readForm(page, "/card/pictures");
  const body = new URLSearchParams({ ...fields, tapped: rabbitCode.slice(0, 2).join(" "), picture: rabbitCode[2]! });
  const send = () =>
    fetch(`${service.url}/card/pictures`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, "x-forwarded-for": "198.51.100.9" },
      body,
    });
  const ofAddress = { key: { notIn: before } };
  const fullAt = new Date(service.clock().getTime() + 60_000);
  await prisma.rateLimit.updateMany({ where: ofAddress, data: { fullAt } });
  const answers = await Promise.all(Array.from({ length: 6 }, send));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(6).fill(303));
  const rows = await prisma.rateLimit.findMany({ where: ofAddress });
  const givenBack = rows.map((row) => fullAt.getTime() - row.fullAt.getTime());
  expect(givenBack.filter((ms) => ms > 0)).toEqual([600]);
});

test("a photographed sequence is worth nothing without the card or an open list", async () => {
  const device = await room.openDevice();
  const page = await tapName(device, "Ada L.");
  const elsewhere = room.open();
  await elsewhere.open("/class");
  const body = new URLSearchParams({ tapped: "rabbit cake", picture: "rabbit" });
  const address = addressOfName(await device.open("/class"), "Ada L.")!;
  const sent = await elsewhere.once(address, { method: "POST", body });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, "/class"]);
  const pictures = await elsewhere.once("/card/pictures", { method: "POST", body });
  expect(pictures.status).toBe(400);
  const typed = await elsewhere.open("/sign-in");
  const refused = await elsewhere.submit(typed, "/sign-in", { ...ada.login, password: "rabbit cake rabbit" });
  expect(refused.status).toBe(422);
  expect(await signedInAs(elsewhere)).toBeNull();
  await tap(device, page, rabbitCode);
  expect(await signedInAs(device)).toBe("Ada");
});

test("after the lesson a shared device shows no name, and the session that was left open ends", async () => {
  const { code } = await room.openList(15);
  const device = await room.openDevice(code);
  const page = await tapName(device, "Ada L.");
  await signInByList(device, "Eve M.");
  expect(await signedInAs(device)).toBe("Eve");
  const sessions = await prisma.oidcArtifact.findMany({ where: { kind: "Session", personId: eve.personId } });
  const left = sessions.flatMap(({ payload }) => {
    const [, end] = ((payload as { acr?: string }).acr ?? "").split(" ");
    return end === undefined ? [] : [Number(end) - Math.floor(Date.now() / 1000)];
  });
  expect(left.filter((seconds) => seconds > 15 * 60 && seconds <= 25 * 60)).toHaveLength(1);
  minutesLater(15);
  expect(headingOf(await device.open("/class"))).toBe("Sign in with your class");
  expect(headingOf(await tap(device, page, rabbitCode))).toBe("Sign in with your class");
  const next = await room.openList();
  expect(headingOf(await device.open("/class"))).toBe("Sign in with your class");
  expect(headingOf(await room.enterCode(device, next.code))).toBe("Who are you?");
  expect(JSON.stringify(device.cookies())).not.toContain(code);
  service.clock.set(start);
});

test("the next pupil ends the session that another one left open, and signing out comes back to the list", async () => {
  const device = await room.openDevice();
  const sessions = () => prisma.oidcArtifact.count({ where: { kind: "Session", personId: eve.personId } });
  const before = await sessions();
  await signInByList(device, "Eve M.");
  await signInByList(device, "Ada L.");
  expect(await signedInAs(device)).toBe("Ada");
  expect(await sessions()).toBe(before);
  const confirm = await device.open("/oauth2/sessions/logout");
  const out = await device.submit(confirm, "/logout/confirm", { logout: "yes" });
  expect(new URL(out.url).pathname).toBe("/class");
  expect(headingOf(out)).toBe("Who are you?");
  expect(await signedInAs(device)).toBeNull();
});

test("a pupil who finds another one's session open cannot change the pictures without knowing them", async () => {
  const device = await room.openDevice();
  await signInByList(device, "Eve M.");
  const page = await device.open("/sign-in/pictures?return=/account");
  expect(page.html).toContain("Tap your three pictures.");
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)![1]!;
  const before = await prisma.pictureCode.findUniqueOrThrow({ where: { personId: eve.personId } });
  const body = new URLSearchParams({ csrf, first: "dog cat dog", tapped: "dog cat", picture: "dog" });
  const sent = await device.once("/sign-in/pictures", { method: "POST", body });
  expect(sent.status).toBe(422);
  const after = await prisma.pictureCode.findUniqueOrThrow({ where: { personId: eve.personId } });
  expect(after).toEqual({ ...before, wrongTries: 1 });
});

test("staff without the class, of another school and pupils cannot open, read or close a list", async () => {
  const other = await room.make.group({ school: room.school, name: "1a" });
  const of = { school: room.school, groups: [other] };
  const teacher = await makeClassTeacher(service, of);
  const elsewhere = await makeClassroom(service);
  await room.openList();
  const path = `/groups/${room.group}/class-list`;
  for (const call of [teacher.call, elsewhere.call]) {
    const answers = [
      await call("POST", path, { body: { minutes: 45 } }),
      await call("GET", path),
      await call("DELETE", path),
    ];
    expect(answers.map(({ status, body }) => [status, (body as { code: string }).code])).toEqual(
      Array(3).fill([404, "group_not_found"]),
    );
  }
  expect((await room.call("GET", path)).body).not.toEqual({ endsAt: null });
});

test("forms of another browser or site open no list and sign nobody in", async () => {
  const { code } = await room.openList();
  const device = await room.openDevice(code);
  const [stranger, address] = [room.open(), addressOfName(await device.open("/class"), "Ada L.")!];
  const foreign = await stranger.open("/class");
  const csrf = /name="csrf" value="([^"]*)"/.exec(foreign.html)![1]!;
  const victim = room.open();
  await victim.open("/class");
  const opened = await victim.once("/class", { method: "POST", body: new URLSearchParams({ csrf, code }) });
  expect([opened.status, victim.cookies().some(({ name, value }) => name === "_class_list" && value)]).toEqual([
    422,
    false,
  ]);
  const body = new URLSearchParams({ csrf, tapped: "rabbit cake", picture: "rabbit" });
  expect((await device.once(address, { method: "POST", body })).status).toBe(422);
  const left = await device.once("/class/leave", { method: "POST", body: new URLSearchParams({ csrf }) });
  expect(left.status).toBe(303);
  expect(headingOf(await device.open("/class"))).toBe("Who are you?");
  expect(await signedInAs(device)).toBeNull();
});

test("pupils who are blocked, whose card was revoked, who are guests or left look like those without pictures", async () => {
  const group = await room.make.group({ school: room.school, name: "2a" });
  const pupil = (name: string) => room.makeReadyPupil(name, "Muster", [group]);
  const [blocked, lost, gone, open] = [
    await pupil("Blocked"),
    await pupil("Lost"),
    await pupil("Gone"),
    await pupil("Open"),
  ];
  const elsewhere = await makeClassroom(service);
  const guest = await elsewhere.makeReadyPupil("Guest");
  await room.call("PUT", `/groups/${group}/members/${guest.personId}`, { body: {} });
  await room.makePupil("None", "Muster", [group]);
  const device = await room.openDevice((await room.openList(45, group)).code);
  const page = await tapName(device, "Blocked M.");
  await blockPerson(service.db, blocked.personId, { at: service.clock() });
  await room.call("DELETE", `/schools/${room.school}/login-cards/${lost.card.cardId!}`);
  await changeDirectory(service.db, { at: service.clock() }, (change) =>
    removeMembership(change, { groupId: group, personId: gone.personId }),
  );
  const names = await device.open("/class");
  expect(addressOfName(names, "Open M.")).not.toBeNull();
  expect(names.html).not.toContain("Gone");
  for (const name of ["Blocked", "Lost", "None"])
    expect(names.html).toContain(`${name} M. <small>Use your card first.</small>`);
  expect(headingOf(await tap(device, page, rabbitCode))).toBe("Who are you?");
  expect(await signedInAs(device)).toBeNull();
  await signInByList(device, "Open M.");
  expect(await signedInAs(device)).toBe("Open");
  await room.call("DELETE", `/schools/${room.school}/login-cards/${open.card.cardId!}`);
  expect(await signedInAs(device)).toBeNull();
});

test("the table of pictures holds no sequence, and the same pictures of two pupils look different", async () => {
  const rows = await prisma.pictureCode.findMany({ where: { personId: { in: [ada.personId, eve.personId] } } });
  expect(new Set(rows.map(({ hash }) => Buffer.from(hash).toString("hex"))).size).toBe(2);
  const { code } = await room.openList();
  const list = await prisma.classList.findUniqueOrThrow({ where: { groupId: room.group } });
  expect(Buffer.from(list.codeHash).toString("latin1")).not.toContain(code.replaceAll("-", ""));
});
