import { classListPath } from "../../accounts/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { type ConnectionId, allowsLocalPasswords, listWaysIn, type WayIn } from "../../upstream/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { fields, makeFind, sql, table } from "../../platform/database/sql.ts";
import { fieldOf, makeSealedCookie, type PageRequest } from "./page-request.ts";
import type { LoginModel } from "./pages/index.ts";

/**
 * What this browser stores, encrypted, of the sign-in before. `personId` is null on a shared device; `hasSeveral`: two
 * people used it one after the other, and neither said that the device is shared. `connectionId`: the login of the
 * school that the person used, until they sign out. `isLeft`: since the last round trip somebody signed out, or shared
 * the device, and may still be signed in at the login of the school.
 */
type LastSignIn = {
  isShared: boolean;
  hasSeveral: boolean;
  personId: PersonId | null;
  schoolId: SchoolId | null;
  connectionId?: ConnectionId | null;
  isLeft?: boolean;
  /** Whether the person asked to stay signed in on this device. */
  stays?: boolean;
};

const none: LastSignIn = { isShared: false, hasSeveral: false, personId: null, schoolId: null };
const cookie = makeSealedCookie<LastSignIn>("_last_sign_in", {
  secret: "lastSignIn",
  purpose: "last sign-in",
  seconds: 180 * 24 * 3600,
});

export const readLastSignIn = (request: PageRequest): LastSignIn => cookie.read(request) ?? none;

const write = (request: PageRequest, last: LastSignIn): void =>
  cookie.write(request, last, { outlives: !last.isShared });

/** Stores who signed in; on a shared device only the school. */
export function keepLastSignIn(
  request: PageRequest,
  { personId, homeSchoolId, isShared, connectionId, stays = false }: SignedInHere,
): void {
  const before = readLastSignIn(request);
  const isAnother = before.personId !== null && before.personId !== personId;
  // The form of a shared device has the tick set, so its removal is deliberate.
  const hasSeveral = !isShared && isAnother;
  const keeps = !isShared && !hasSeveral;
  const origin = keeps ? { personId, connectionId: connectionId ?? null } : { personId: null };
  const isLeft = connectionId === undefined && before.isLeft === true;
  write(request, { isShared, hasSeveral, ...origin, schoolId: homeSchoolId, isLeft, stays });
}

type SignedInHere = {
  personId: PersonId;
  homeSchoolId: SchoolId | null;
  isShared: boolean;
  connectionId?: ConnectionId | undefined;
  stays?: boolean;
};

export const forgetLastPerson = (request: PageRequest): void =>
  write(request, { ...readLastSignIn(request), personId: null, connectionId: null, isLeft: true });

/** Somebody said that they are not the person who is signed in with this browser. */
export const noteAnotherPerson = (request: PageRequest): void =>
  write(request, { ...readLastSignIn(request), hasSeveral: true, personId: null, connectionId: null, isLeft: true });

/** After signing out, nobody is signed in again unasked, nor as the person before. */
export const noteSignedOut = (request: PageRequest): void =>
  write(request, { ...readLastSignIn(request), connectionId: null, isLeft: true });

/** Stores whether the device is shared before the person goes elsewhere. Returns whether others may be signed in. */
export function keepSharing(request: PageRequest, isShared: boolean): boolean {
  const last = readLastSignIn(request);
  const isLeft = isShared || last.isShared || last.hasSeveral || last.isLeft === true;
  write(request, isShared ? { ...none, isShared, schoolId: last.schoolId, isLeft } : { ...last, isShared, isLeft });
  return isLeft;
}

/** Stores the school that somebody chose; the person of another school is forgotten. */
export function keepSchool(request: PageRequest, schoolId: SchoolId): void {
  const last = readLastSignIn(request);
  if (last.schoolId !== schoolId) write(request, { ...last, schoolId, personId: null, connectionId: null });
}

/** Records that a class uses the device, and forgets who used it before. */
export const keepClass = (request: PageRequest, schoolId: SchoolId): void =>
  write(request, { ...none, isShared: true, schoolId, isLeft: true });

/** The person whom the sign-in page greets, the help text of the school, and its own logins. */
type KnownBrowser = {
  isShared: boolean;
  stays: boolean;
  stayOffer: LoginModel["stayOffer"];
  person: { firstName: string; username: string } | null;
  help: { school: string; text: string } | null;
  hasClassLists: boolean;
  /** False if the school has switched passkeys off. */
  hasPasskeys: boolean;
  ways: WaysOfSchool | null;
  /** Whether the last sign-in was with one of these logins. */
  usesWays: boolean;
};

/**
 * Reads what the sign-in page may show before anybody has signed in. `schoolId` belongs to a person in a hint that only
 * this service can make; a hint that an app wrote itself names no school, because that would reveal it.
 */
export async function readKnownBrowser(request: PageRequest, schoolId: SchoolId | null = null): Promise<KnownBrowser> {
  const last = readLastSignIn(request);
  const isShared = last.isShared || last.hasSeveral;
  const id = schoolId ?? last.schoolId;
  const [person, [signIn], ways, anyStay] = await Promise.all([
    isShared || last.personId === null ? null : findPerson(request.deps, last.personId),
    id === null ? [] : findSignInOfSchool(request.deps.db.pool, { id }),
    id === null ? null : findWaysIn(request.deps, id),
    id === null ? findAnyStay(request.deps) : null,
  ]);
  const help = signIn?.helpText ? { school: signIn.name, text: signIn.helpText } : null;
  const hasClassLists = signIn?.hasClassLists === true;
  const stayOffer = signIn?.days ? { days: signIn.days, fromGrade: signIn.fromGrade } : anyStay;
  const usesWays = Boolean(last.connectionId);
  const hasPasskeys = signIn?.passkeys !== false;
  const device = { isShared, stays: last.stays === true, stayOffer };
  return { ...device, person, help, hasClassLists, hasPasskeys, ways, usesWays };
}

export type TypedLogin = { username: string } & DeviceChoice;

/** What the person says of the device. */
export type DeviceChoice = { isShared: boolean; stays: boolean };

export function readDeviceChoice(request: PageRequest): DeviceChoice {
  const isShared = fieldOf(request, "shared") !== "";
  return { isShared, stays: !isShared && fieldOf(request, "stay") !== "" };
}

type LoginPageParts = {
  typed: TypedLogin | undefined;
  /** The address of the page that shows all ways, and asks for any user name. */
  other: string;
  /** The address that the buttons of the school's own logins are posted to. */
  upstream: string;
  problem: LoginModel["problem"];
};

type OfBrowser =
  "username" | "known" | keyof DeviceChoice | "stayOffer" | "help" | "classList" | "ways" | "passwordForm";

/**
 * Chooses what the login page shows in this browser. The last person is greeted unless another user name was typed. The
 * password form is collapsed behind the school's own logins, and omitted if the school uses no passwords. A link always
 * brings it back: people without a school, and admins who repair a school's login, need it in every browser.
 */
export function describeBrowser(
  { req }: PageRequest,
  { person, isShared, stays, stayOffer, help, hasClassLists, hasPasskeys, ways, usesWays }: KnownBrowser,
  { typed, other, upstream, problem }: LoginPageParts,
): Pick<LoginModel, OfBrowser> & { mayUsePasskeys: boolean } {
  const username = typed?.username ?? "";
  const isOther = req.query["other"] !== undefined;
  const isGreeted = !isOther && (username === "" || username === person?.username) && !(ways !== null && usesWays);
  const known = person !== null && isGreeted ? { ...person, other } : null;
  const isUnused = problem?.kind === "not_used";
  const isOpen = ways === null || isOther || (!isUnused && (problem !== null || username !== ""));
  const otherwise = ways?.allowsPasswords === false ? "none" : known === null ? "folded" : "open";
  const passwordForm = isOpen ? "open" : otherwise;
  return {
    username,
    known: ways?.allowsPasswords === false ? null : known,
    isShared: typed?.isShared ?? isShared,
    stays: typed?.stays ?? (stays && !isShared),
    stayOffer,
    help,
    classList: hasClassLists ? classListPath : null,
    ways: ways && { ...ways, action: upstream, other },
    passwordForm,
    mayUsePasskeys: passwordForm !== "none" && (hasPasskeys || isOther) && problem?.kind !== "no_passkeys",
  };
}

async function findPerson({ db: { prisma } }: InteractionDeps, id: PersonId): Promise<KnownBrowser["person"]> {
  const person = await prisma.person.findFirst({
    where: { id, status: "ACTIVE" },
    select: { firstCall: true, credential: { select: { username: true } } },
  });
  if (!person?.firstCall || !person.credential) return null;
  return { firstName: person.firstCall, username: person.credential.username };
}

/** Null for what a school without settings has not set. */
type SignInOfSchool = {
  name: string;
  helpText: string | null;
  passkeys: boolean | null;
  days: number | null;
  fromGrade: number | null;
  hasClassLists: boolean | null;
};

const settings = table("schoolSignIn");
const school = table("school");
const cards = table("cardSettings");

const findSignInOfSchool = makeFind<SignInOfSchool, { id: SchoolId }>("sign-on.findSignInOfSchool")`
    SELECT ${fields<SignInOfSchool>({
      name: school.name,
      helpText: settings.helpText,
      passkeys: settings.passkeys,
      days: settings.staySignedInDays,
      fromGrade: settings.staySignedInFromGrade,
      hasClassLists: sql`${cards.enabled} AND ${cards.classLists}`,
    })}
    FROM ${school} LEFT JOIN ${settings} ON ${settings.schoolId} = ${school.id}
      LEFT JOIN ${cards} ON ${cards.schoolId} = ${school.id}
    WHERE ${school.id} = ${"id"}`;

const selectAnyStay = makeFind<{ isOffered: boolean }>("sign-on.findAnyStay")`
  SELECT EXISTS (SELECT FROM ${settings} WHERE ${settings.staySignedInDays} > 0) AS "isOffered"`;

/** For a browser without a school: whether any school lets people stay signed in. */
async function findAnyStay({ db }: InteractionDeps): Promise<LoginModel["stayOffer"]> {
  const [row] = await selectAnyStay(db.pool, {});
  return row!.isOffered ? { days: null, fromGrade: null } : null;
}

/** The logins that a school has elsewhere, at least one, and whether it uses passwords of this service besides. */
type WaysOfSchool = {
  school: string;
  buttons: readonly Pick<WayIn, "connectionId" | "name">[];
  allowsPasswords: boolean;
};

/** Null for a school without a login of its own. */
export async function findWaysIn({ db, clock }: InteractionDeps, schoolId: SchoolId): Promise<WaysOfSchool | null> {
  const buttons = await listWaysIn(db.pool, schoolId);
  const [first] = buttons;
  if (first === undefined) return null;
  return { school: first.schoolName, buttons, allowsPasswords: allowsLocalPasswords(first, clock()) };
}
