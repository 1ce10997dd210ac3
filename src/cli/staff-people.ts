import { staffRoleNames, type StaffRoleName } from "../staff/index.ts";
import { bodyOf, makeBody, withIdempotencyKey, type AllProperties, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type OptionsOf, type Verbs } from "./command.ts";
import { done } from "./lines.ts";
import { showLogin } from "./new-login.ts";
import { argument, option, required } from "./option.ts";
import { softDeletePerson } from "./person.ts";
import { argsNamed } from "./verbs.ts";

export const roleOptions = {
  school: option.schools("The schools it is for; all roles but OPERATOR and PARTNER need one."),
  forApp: option.texts("The apps it is for; PARTNER needs one.", "client-id"),
  reason: option.text("Why; SUPPORT needs it, and the school sees it."),
  ends: option.time("When it ends by itself; SUPPORT needs it, at most SUPPORT_ROLE_DAYS (14) from now."),
};

type Role = Pick<AllProperties<Schemas["StaffRoleInput"]>, "role" | "schoolIds" | "clientIds" | "reason" | "endsAt">;

export const readRole = (role: StaffRoleName, options: OptionsOf<typeof roleOptions>): Role => ({
  role,
  schoolIds: options.school,
  clientIds: options.forApp && [...options.forApp],
  reason: options.reason,
  endsAt: options.ends?.toISOString(),
});

const args = argsNamed("personId");

const staffPeople = "/admin/v1/staff-people";

export const staffPeopleVerbs: Verbs = {
  create: makeApiCommand({
    summary:
      "Create an account for a person who is at no school, with a role; the first password is shown only once, and they choose their own.",
    args: { role: argument.oneOf(staffRoleNames) },
    options: {
      username: required(option.text("The user name.")),
      first: required(option.text("All first names.")),
      last: required(option.text("Last name.")),
      ...roleOptions,
    },
    run: async ({ api }, { args: { role }, options: { username, first, last, ...options } }) => {
      const body = makeBody<Schemas["StaffPersonInput"]>({
        ...readRole(role, options),
        name: { firstFull: first, firstCall: first.trim().split(/\s+/)[0]!, last },
        username,
      });
      return showLogin(await bodyOf(api.POST(staffPeople, { params: withIdempotencyKey(), body })));
    },
  }),
  delete: makeApiCommand({
    summary: "Delete an account; never the last operator's. Until the restore window ends: person restore.",
    args,
    run: async (service, { args: { personId: id } }) => {
      const purgeAt = await softDeletePerson(service, id);
      return done(`Account deleted. It can be restored until ${purgeAt}.`, { id, purgeAt });
    },
  }),
};
