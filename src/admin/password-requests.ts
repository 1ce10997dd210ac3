import { againAfterDeadlock } from "../access/index.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import { lockPersonSignIn, requestPasswordIn, withdrawPasswordRequestsIn } from "../accounts/index.ts";
import type { AdminHandler } from "./handler.ts";
import { changeWithPerson } from "./logins.ts";
import { refuseOtherSchool } from "./reached.ts";
import { getReachedPerson } from "./whose-person.ts";

// Also for people whose staff role goes beyond the caller's: the home school decides.
export const requestPassword: AdminHandler<"requestPassword"> = ({ db }, { personId, body, reach, origin }) =>
  againAfterDeadlock(() =>
    withPrismaTransaction(db, async (tx) => {
      const { schoolId } = body;
      await lockPersonSignIn(tx, personId);
      await getReachedPerson(tx, reach, personId);
      refuseOtherSchool(reach, schoolId);
      await requestPasswordIn(tx, { personId, schoolId }, origin);
      return { status: 204 };
    }),
  );

export const withdrawPasswordRequests: AdminHandler<"withdrawPasswordRequests"> = (deps, request) =>
  changeWithPerson(deps, request, withdrawPasswordRequestsIn);
