import type { components } from "../../generated/openapi/admin.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { makeStaff, type CalledService } from "./admin.ts";
import { makeBrowser, type Browser, type Shown } from "./browser.ts";
import { makeMakers } from "./make.ts";
import { giveLogin } from "./token.ts";

type Schemas = components["schemas"];

export const rabbitCode = ["rabbit", "cake", "rabbit"];

/** A school with class lists, its class 3b, and what its pupils and staff do. */
export async function makeClassroom(service: CalledService) {
  const make = makeMakers(service.db);
  const school: SchoolId = await make.school();
  const group = await make.group({ school, name: "3b" });
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const settings = {
    enabled: true,
    grades: null,
    hours: null,
    networks: [],
    secondStep: "NONE",
    printSecondStep: false,
    pictureCodeUpToGrade: 4,
    classLists: true,
  };
  const setCards = async (wishes: object = {}) => {
    const { status } = await call("PUT", `/schools/${school}/card-settings`, { body: { ...settings, ...wishes } });
    if (status !== 204) throw new Error(`the settings of cards were refused: ${status}`);
  };
  await setCards();

  async function makeCard(personId: PersonId): Promise<Schemas["MadeLoginCard"]> {
    const body = { personIds: [personId], newPasswords: false, withQr: true };
    return ((await call("POST", `/schools/${school}/login-cards`, { body })).body as Schemas["MadeLoginCards"])
      .cards[0]!;
  }
  async function makePupil(firstCall: string, last = "Muster", groups = [group]) {
    const personId = await make.person({ school, groups, name: { firstFull: firstCall, firstCall, last } });
    const login = await giveLogin(service.db, personId);
    return { personId, login, card: await makeCard(personId) };
  }
  /** A pupil who has chosen pictures with their card. */
  async function makeReadyPupil(firstCall: string, last = "Muster", groups = [group]) {
    const pupil = await makePupil(firstCall, last, groups);
    await choosePictures(open(), pupil.card.url!);
    return pupil;
  }
  async function openList(minutes = 45, of = group): Promise<Schemas["OpenClassList"]> {
    return (await call("POST", `/groups/${of}/class-list`, { body: { minutes } })).body as Schemas["OpenClassList"];
  }
  const open = (from = "192.0.2.7"): Browser =>
    makeBrowser(service.url, { "accept-language": "en", "x-forwarded-for": from });
  const enterCode = async (browser: Browser, code: string): Promise<Shown> =>
    browser.submit(await browser.open("/class"), "/class", { code });
  /** A browser on which the list of the class is open. */
  async function openDevice(code?: string): Promise<Browser> {
    const browser = open();
    await enterCode(browser, code ?? (await openList()).code);
    return browser;
  }
  return {
    make,
    school,
    group,
    call,
    setCards,
    makeCard,
    makePupil,
    makeReadyPupil,
    openList,
    open,
    enterCode,
    openDevice,
  };
}

export const headingOf = ({ html }: { html: string }) => /<h1[^>]*>([^<]*)</.exec(html)?.[1];

/** The address of a name in the list, or null for one that is greyed. */
export const addressOfName = ({ html }: { html: string }, name: string): string | null =>
  new RegExp(`<a class="secondary" href="([^"]*)">${name}</a>`).exec(html)?.[1] ?? null;

/** Taps three pictures on the page that shows them, at once, as its script does. */
export const tap = (browser: Browser, page: Shown, pictures: readonly string[]): Promise<Shown> => {
  const action = /<form method="post" action="([^"]*)" class="stack" data-pictures/
    .exec(page.html)![1]!
    .replace(/\?.*$/, "");
  return browser.submit(page, action, { tapped: pictures.slice(0, 2).join(" "), picture: pictures[2]! });
};

/** Scans a card for the first time and chooses pictures; the page after that. */
export async function choosePictures(browser: Browser, url: string, pictures = rabbitCode): Promise<Shown> {
  const page = await browser.submit(await browser.open(url), "/card");
  return tap(browser, await tap(browser, page, pictures), pictures);
}

export async function tapName(browser: Browser, name: string): Promise<Shown> {
  return browser.open(addressOfName(await browser.open("/class"), name)!);
}

export const signInByList = async (browser: Browser, name: string, pictures = rabbitCode): Promise<Shown> =>
  tap(browser, await tapName(browser, name), pictures);
