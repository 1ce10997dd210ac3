import { expect, test } from "vitest";
import { addressOfName, choosePictures, headingOf, makeClassroom, signInByList } from "../support/class-list.ts";
import { startService } from "../support/service.ts";
import { askFor, exchange, passPages } from "../support/token.ts";

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
