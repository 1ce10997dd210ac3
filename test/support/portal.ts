import type { ClientId } from "../../src/access/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { setLoginIn } from "../../src/accounts/index.ts";
import { giveRole, type StaffRoleName } from "../../src/staff/index.ts";
import { makeBrowser, readForm, type Browser } from "./browser.ts";
import { makeMakers } from "./make.ts";
import { hashQuickly } from "./quick-hash.ts";
import type { TestService } from "./service.ts";

let made = 0;

export type PortalUser = { personId: PersonId; username: string; password: string; browser: Browser };

/** Somebody of the staff who is signed in with a browser of their own. */
export async function makePortalUser(
  service: TestService,
  role: StaffRoleName | null,
  { schoolIds = [], clientIds = [] }: { schoolIds?: SchoolId[]; clientIds?: ClientId[] } = {},
): Promise<PortalUser> {
  const at = service.clock();
  const make = makeMakers(service.db);
  const personId = await make.person({ school: schoolIds[0] ?? (await make.school({})), role: "TEACHER" });
  const [username, password] = [`staff${(made += 1)}.${personId.slice(-6)}`, `password-${personId}`];
  const passwordHash = await hashQuickly(password);
  await withPrismaTransaction(service.db, (tx) => setLoginIn(tx, { personId, username, passwordHash }, { at }));
  if (role !== null) await giveRoleTo(service, personId, role, { schoolIds, clientIds });
  const browser = makeBrowser(service.url, { "accept-language": "de" });
  await signIn(browser, { username, password });
  return { personId, username, password, browser };
}

export async function giveRoleTo(
  service: TestService,
  personId: PersonId,
  role: StaffRoleName,
  { schoolIds = [], clientIds = [] }: { schoolIds?: SchoolId[]; clientIds?: ClientId[] },
): Promise<string> {
  const at = service.clock();
  const ends = role === "SUPPORT" ? { reason: "Ticket 17", endsAt: new Date(at.getTime() + 86_400_000) } : {};
  const given = await withPrismaTransaction(service.db, (tx) =>
    giveRole(tx, { role, holder: { personId }, schoolIds, clientIds, ...ends }, { giver: null, origin: { at } }),
  );
  return given.id;
}

/** Signs in on the page of the platform. */
export async function signIn(browser: Browser, login: { username: string; password: string }): Promise<void> {
  const { fields } = readForm(await browser.open("/sign-in"), "/sign-in");
  const body = new URLSearchParams({ ...fields, ...login });
  const response = await browser.once("/sign-in", { method: "POST", body });
  if (response.status >= 400) throw new Error(`sign-in was refused: ${(await response.text()).slice(0, 2000)}`);
}
