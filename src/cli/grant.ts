import { findGrant, listGrants, setSignOn, withdrawGrant } from "../access/index.ts";
import type { ClientId, GrantKey, GrantSettings, SignOnAudience } from "../access/index.ts";
import type { GroupId, PersonRole, SchoolId } from "../directory/index.ts";
import { found, inChange, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { done, recordLines, wholeList, type Columns } from "./lines.ts";
import { argument, option, required, UsageError } from "./option.ts";
import * as far from "./remote/grant.ts";

const takes = { app: argument.text<ClientId>(), school: argument.school() };

type Audience = {
  to: "nobody" | "everybody" | "roles" | "groups";
  role?: PersonRole[] | undefined;
  group?: GroupId[] | undefined;
};

function readAudience({ to, role, group }: Audience): SignOnAudience {
  if ((to === "roles") !== (role !== undefined))
    throw new UsageError("--role belongs to --sign-on roles, which needs it.");
  if ((to === "groups") !== (group !== undefined))
    throw new UsageError("--group belongs to --sign-on groups, which needs it.");
  if (role !== undefined) return { kind: "ROLES", roles: role as [PersonRole, ...PersonRole[]] };
  if (group !== undefined) return { kind: "GROUPS", groups: group };
  return { kind: to === "everybody" ? "EVERYBODY" : "NOBODY" };
}

function audienceText(signOn: SignOnAudience): string {
  if (signOn.kind === "ROLES") return `roles ${signOn.roles.join(", ")}`;
  return signOn.kind === "GROUPS" ? `groups ${signOn.groups.join(", ") || "none"}` : signOn.kind.toLowerCase();
}

const columns: Columns<GrantSettings> = {
  app: ({ clientId }) => clientId,
  school: ({ schoolId }) => schoolId,
  "sign-on": ({ signOn }) => signOn.kind.toLowerCase(),
  sync: ({ sync }) => (sync ? "on" : "off"),
  "synced groups": ({ syncedGroups }) => String(syncedGroups.length),
};

const keyOf = ({ app: clientId, school: schoolId }: { app: ClientId; school: SchoolId }): GrantKey => ({
  clientId,
  schoolId,
});

const signOnSet = ({ clientId: app, schoolId: school }: GrantKey, signOn: SignOnAudience): Result =>
  done(`Sign-on: ${audienceText(signOn)}.`, { app, school, signOn });

const withdrawn = ({ clientId: app, schoolId: school }: GrantKey): Result =>
  done("School grant withdrawn.", { app, school });

function show(shown: GrantSettings): Result {
  const lines = recordLines({
    app: shown.clientId,
    school: shown.schoolId,
    "sign-on": audienceText(shown.signOn),
    sync: shown.sync ? "on" : "off",
    "synced groups": shown.syncedGroups.join(", ") || "none",
  });
  return { lines, data: shown };
}

function showAll(all: readonly GrantSettings[], limit: number): Result {
  const more = all.length > limit;
  const id = ({ clientId, schoolId: school }: GrantSettings) => `${clientId} ${school}`;
  const list = wholeList("grants", all.slice(0, limit), { columns, id });
  const lines = [...list.lines, ...(more ? ["There are more: raise --limit."] : [])];
  return { ...list, lines, data: { ...list.data, more } };
}

const mostGrants = 1000;

export const grant: Noun = {
  verbs: {
    set: makeCommand({
      summary: "Set which people of a school may sign in to an app. It takes effect at once, for tokens too.",
      takes,
      options: {
        signOn: required(option.oneOf(["nobody", "everybody", "roles", "groups"] as const, "Who may sign in.")),
        role: option.someOf<PersonRole>(["STUDENT", "TEACHER", "OTHER"], "With --sign-on roles: these."),
        group: option.groups("With --sign-on groups: the members of these."),
      },
      run: async (tools, { given, options: { signOn: to, role, group } }) => {
        const [key, signOn] = [keyOf(given), readAudience({ to, role, group })];
        await inChange(tools, (change) => setSignOn(change, { ...key, signOn }));
        return signOnSet(key, signOn);
      },
      remote: async (remote, { given, options: { signOn: to, role, group } }) => {
        const [key, signOn] = [keyOf(given), readAudience({ to, role, group })];
        await far.changeGrant(remote, key, () => ({ signOn }));
        return signOnSet(key, signOn);
      },
    }),
    withdraw: makeCommand({
      summary: "Withdraw sign-on and sync from an app, and the choice of synced groups.",
      takes,
      run: async (tools, { given }) => {
        await inChange(tools, (change) => withdrawGrant(change, keyOf(given)));
        return withdrawn(keyOf(given));
      },
      remote: async (remote, { given }) => {
        await far.withdrawGrant(remote, keyOf(given));
        return withdrawn(keyOf(given));
      },
    }),
    show: makeCommand({
      summary: "Show what a school gives an app.",
      takes,
      run: async (tools, { given }) => {
        const grant = await inDatabase(tools, (db) => findGrant(db, keyOf(given)));
        return show(found(grant, "grant_not_found", "The school has given this app nothing."));
      },
      remote: async (remote, { given }) => show(await far.findGrant(remote, keyOf(given))),
    }),
    list: makeCommand({
      summary: "List the grants of an app, of a school, or all.",
      options: {
        app: option.text("Only grants of this app.", "client-id"),
        school: option.school("Only grants by this school."),
        limit: option.count(`How many at most; ${mostGrants} if left out.`),
      },
      run: async (tools, { options: { app, school: schoolId, limit = mostGrants } }) => {
        const of = {
          ...(app !== undefined && { clientId: app as ClientId }),
          ...(schoolId !== undefined && { schoolId }),
        };
        return showAll(await inDatabase(tools, (db) => listGrants(db, { ...of, limit: limit + 1 })), limit);
      },
      remote: async (remote, { options: { app, school: schoolId, limit = mostGrants } }) =>
        showAll(await far.listGrants(remote, { clientId: app, schoolId, limit: limit + 1 }), limit),
    }),
  },
};
