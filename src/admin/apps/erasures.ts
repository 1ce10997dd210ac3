import { countErasures, type ErasurePosition } from "../../access/index.ts";
import { addDays } from "../../platform/clock.ts";
import { present } from "../../platform/contract-types.ts";
import { refuseOtherFilter } from "./grants.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { invalidRequest } from "../query.ts";

export const listOpenErasures: AdminHandler<"listOpenErasures"> = async (deps, request) => {
  const { query, reach, origin } = request;
  const { range, answer } = request.page;
  const filter = { schoolId: query.school, clientId: query.app };
  if (filter.schoolId === undefined && filter.clientId === undefined) throw invalidRequest("Give school or app.");
  await refuseOtherFilter(deps, reach, filter);
  const found = await countErasures(deps.db.pool, {
    schoolId: filter.schoolId,
    clientId: filter.clientId,
    amongSchools: reach.all ? null : [...reach.schoolIds],
    amongApps: reach.all ? null : [...reach.clientIds],
    now: origin.at,
    overdueBefore: addDays(origin.at, -deps.erasureOverdueDays),
    waitDays: deps.restoreWindowDays,
    limit: range.limit,
    after: range.after === undefined ? undefined : (JSON.parse(range.after) as ErasurePosition),
  });
  return answer(
    found,
    ({ place: _, ...counts }) => present<Schemas["OpenErasures"]>(counts),
    ({ place, schoolId: lastSchool, clientId: lastApp }) => JSON.stringify({ place, lastSchool, lastApp }),
  );
};
