import fc from "fast-check";
import { expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { issueAppToken } from "../support/token.ts";
import { walks, walkTimeoutMs } from "../support/walks.ts";
import { makeMatrixWorld } from "./matrix-world.ts";

// What the preview of a grant says of people, beside what the app reads before and after the change.

const service = await startService();
const make = makeMakers(service.db, service.clock());
const world = await makeMatrixWorld(make, "SHARED");
// Who is deleted was deleted before each change.
service.clock.forwardSeconds(60);
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: Object.values(world.schools) });
const app = world.apps["reader"]!;
const token = await issueAppToken(service, app, ["people:read", "users:read"]);

/** Who is at their school, or guest there, and read by the app. */
async function readPeople(): Promise<Set<string>> {
  const active = await service.db.prisma.person.findMany({ where: { status: "ACTIVE" }, select: { id: true } });
  const isRead = async (path: string) =>
    (await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } })).status === 200;
  const read = await Promise.all(
    active.map(async ({ id }) => {
      const found = (await isRead(`/idm/ep/v1/people/${id}`)) || (await isRead(`/idm/ep/v1/users/${id}`));
      return found ? [id] : [];
    }),
  );
  return new Set(read.flat());
}

type Named = { id: string }[];
type Change = { clientId: string; people: Record<"enter" | "leave", number>; names: Record<"enter" | "leave", Named> };

const groupsOf: Record<string, string[]> = Object.groupBy(
  Object.keys(world.groups),
  (name) => ({ n: "north", s: "south", e: "east", w: "west", m: "mid", c: "club" })[name[0]!]!,
) as Record<string, string[]>;

const grants = fc.constantFrom(...Object.keys(world.schools)).chain((school) =>
  fc.record({
    school: fc.constant(school),
    sync: fc.boolean(),
    groups: fc.subarray(groupsOf[school]!),
    signOn: fc.oneof(
      fc.constantFrom({ kind: "EVERYBODY" }, { kind: "NOBODY" }),
      fc.subarray(["STUDENT", "TEACHER", "OTHER"], { minLength: 1 }).map((roles) => ({ kind: "ROLES", roles })),
    ),
  }),
);

test(
  "whom a preview names as becoming visible or no longer visible is the difference of what the app reads",
  { tags: "model", timeout: walkTimeoutMs },
  async () => {
    let before = await readPeople();
    await fc.assert(
      fc.asyncProperty(grants, async ({ school, sync, groups, signOn }) => {
        const schoolId = world.schools[school] as SchoolId;
        const path = `/schools/${schoolId}/grants/${app.clientId}`;
        const body = { sync, syncedGroupIds: groups.map((name) => world.groups[name]!), signOn };
        const preview = await admin.call("PUT", `${path}?dry-run=true`, { body });
        expect(preview.status).toBe(200);
        const [change] = (preview.body as Change[]).filter(({ clientId }) => clientId === app.clientId);
        const said = (step: "enter" | "leave") => (change?.names[step] ?? []).map(({ id }) => id).sort();
        expect((await admin.call("PUT", path, { body })).status).toBe(204);
        const after = await readPeople();
        expect([said("enter"), said("leave")]).toEqual([
          [...after].filter((id) => !before.has(id)).sort(),
          [...before].filter((id) => !after.has(id)).sort(),
        ]);
        expect([change?.people.enter ?? 0, change?.people.leave ?? 0]).toEqual([
          said("enter").length,
          said("leave").length,
        ]);
        before = after;
      }),
      walks(40, 15),
    );
  },
);
