import { randomUUID } from "node:crypto";
import { readConfig } from "../../src/config/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { addressesOf, type ConnectionId, type NewConnection, putWayInIn } from "../../src/upstream/index.ts";
import { type ConnectedSchool, startUpstreamWorld, type UpstreamWorld } from "../api/sign-on/upstream-world.ts";
import { type Browser, makeBrowser, type Shown } from "../support/browser.ts";
import { connectSchool, signInThere } from "../support/upstream-browser.ts";
import type { UpstreamProvider } from "../support/upstream-provider.ts";

export type Claims = Record<string, unknown>;

export type AttackedSchool = ConnectedSchool & { provider: UpstreamProvider };

export type AttackWorld = Omit<UpstreamWorld, "connect"> & {
  /** A school with a login of its own and a link, at the provider of the world or at another. */
  connect(
    wishes?: Partial<NewConnection> & { localPasswords?: boolean },
    provider?: UpstreamProvider,
  ): Promise<AttackedSchool>;
  newBrowser(): Browser;
  /** A pupil at home in the school whom the roster knows by this number. */
  makePerson(school: AttackedSchool, sourceSystemIdentifier: string | null): Promise<PersonId>;
  /** Presses the button of the school's login and stops there: the address of the request at the provider. */
  leave(browser: Browser, school: AttackedSchool, path?: string): Promise<URL>;
  /** Brings the parameters of a response to the redirect URI of a connection. */
  comeBack(browser: Browser, id: ConnectionId, params: URLSearchParams | Record<string, string>): Promise<Shown>;
  /** A whole sign-in of an account with these claims, up to the page that follows. */
  arrive(school: AttackedSchool, claims: Claims, sub?: string): Promise<{ browser: Browser; shown: Shown }>;
  /** The code on the page where `arrive` ends; "signed in" if somebody is. */
  outcome(school: AttackedSchool, claims: Claims, sub?: string): Promise<string>;
  isSignedIn(browser: Browser): Promise<boolean>;
  /** How many sessions a person has here. */
  sessionsOf(personId: PersonId): Promise<number>;
  /** Whom an account of a school's login is linked to. */
  linksOf(school: AttackedSchool): Promise<{ subject: string; personId: string }[]>;
};

/** Those of every service in the tests. */
export const { encryptionKeys } = readConfig({ NODE_ENV: "test" });

/** The short reason on a page that says why nobody was signed in. */
export const reasonOn = ({ html }: Pick<Shown, "html">): string | undefined =>
  /reason <code>([A-Z_]+)<\/code>/.exec(html)?.[1];

/** A service, a provider, and browsers that stop between them, where an attacker is. */
export function startAttackWorld(env: Record<string, string> = {}): AttackWorld {
  const started = startUpstreamWorld(env);
  const world = new Proxy({} as AttackWorld, {
    get: (own, name) => Reflect.get(Object.hasOwn(own, name) ? own : started, name) as unknown,
  });
  const newBrowser = () => makeBrowser(world.service.url, { "accept-language": "en" });
  const leave: AttackWorld["leave"] = async (browser, { linkName, connectionId }, path = "/") => {
    await browser.open(`/s/${linkName}`);
    const page = await browser.open(`/sign-in?return=${encodeURIComponent(path)}`);
    return new URL((await browser.submit(page, "/upstream", { connection: connectionId })).url);
  };
  const comeBack: AttackWorld["comeBack"] = (browser, id, params) => {
    const address = new URL(addressesOf(world.service.url, id).redirectUri);
    address.search = new URLSearchParams(params).toString();
    return browser.open(address.href);
  };
  const arrive: AttackWorld["arrive"] = async (school, claims, sub) => {
    signInThere(school.provider, claims, sub);
    const browser = newBrowser();
    const params = await school.provider.visit(await leave(browser, school));
    return { browser, shown: await comeBack(browser, school.connectionId, params) };
  };
  const isSignedIn = async (browser: Browser) => (await browser.open("/")).html.includes("Signed in as");
  return Object.assign(world, {
    async connect({ localPasswords = true, ...wishes } = {}, provider = started.provider) {
      const { service, make } = started;
      const school = wishes.schoolId ?? (await make.school());
      const connectionId = await connectSchool(service, provider, { school, ...wishes });
      const linkName = `school-${randomUUID()}`;
      const wanted = { schoolId: school, linkName, localPasswords };
      await withPrismaTransaction(service.db, (tx) => putWayInIn(tx, wanted, { at: service.clock() }));
      return { school, linkName, connectionId, provider };
    },
    newBrowser,
    leave,
    comeBack,
    arrive,
    isSignedIn,
    async makePerson({ school }, sourceSystemIdentifier) {
      return world.make.person({ school, sourceSystemIdentifier });
    },
    async outcome(school, claims, sub) {
      const { browser, shown } = await arrive(school, claims, sub);
      const isIn = await isSignedIn(browser);
      return isIn ? "signed in" : (reasonOn(shown) ?? `${shown.status} ${shown.html.slice(0, 200)}`);
    },
    sessionsOf: (personId) => world.service.db.prisma.oidcArtifact.count({ where: { kind: "Session", personId } }),
    linksOf: ({ connectionId }) =>
      world.service.db.prisma.upstreamLink.findMany({
        where: { connectionId },
        select: { subject: true, personId: true },
        orderBy: { linkedAt: "asc" },
      }),
  } satisfies Omit<AttackWorld, Exclude<keyof UpstreamWorld, "connect">>);
}
