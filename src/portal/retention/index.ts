import { makeArea, onlyIf } from "../frame/index.ts";
import { releaseRun, setSchool, showSchool } from "./school.ts";
import { setState, showState } from "./state.ts";

const school = "/admin/schools/:schoolId/retention";

/** `/admin/schools/:schoolId/retention`: for how long a school keeps people and its audit log. */
export const retentionPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  const show = onlyIf("getRetention", showSchool);
  pages.form(school, setSchool, show);
  pages.post(`${school}/release`, releaseRun, show);
});

/** `/admin/retention`: the policies of states. */
export const stateRetentionPages = makeArea({ folder: import.meta.dirname, page: "operator_retention" }, (pages) => {
  const show = onlyIf("getServiceRetention", showState);
  pages.get("/admin/retention", show);
  pages.post("/admin/retention/policy", setState, show);
});
