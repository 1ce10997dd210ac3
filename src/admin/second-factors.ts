import type { PersonId } from "../directory/index.ts";
import { present } from "../platform/contract-types.ts";
import { revokeSecondFactorsIn, listSecondFactors as factorsOf, type SecondFactor } from "../accounts/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import type { AdminHandler } from "./handler.ts";
import { withPerson } from "./logins.ts";
import { answerPage, readPage } from "./page.ts";
import { partOf } from "./sessions.ts";
import { getReachedPerson } from "./whose-person.ts";

const presentFactor = ({ id, kind, label, createdAt, lastUsedAt }: SecondFactor) =>
  present<components["schemas"]["SecondFactor"]>({
    id,
    kind,
    label,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  });

const listSecondFactors: AdminHandler<"listSecondFactors"> = async (deps, { path, query, reach }) => {
  const page = readPage(deps, "listSecondFactors", query);
  const personId = path.personId as PersonId;
  await getReachedPerson(deps.db, reach, personId);
  const idOf = ({ id }: SecondFactor) => id;
  const found = partOf(await factorsOf(deps.db, personId), idOf, page);
  const list = { list: "listSecondFactors" as const, path: `/admin/v1/people/${personId}/second-factors`, query, page };
  return answerPage(deps, list, { found, idOf, present: presentFactor });
};

const revokeSecondFactors: AdminHandler<"revokeSecondFactors"> = (deps, request) =>
  withPerson(deps, request, async (tx, personId) => {
    await revokeSecondFactorsIn(tx, personId, request.origin);
    return { status: 204 };
  });

export const secondFactorHandlers = { listSecondFactors, revokeSecondFactors };
