export type Fault = {
  file: string;
  /** Occurs once in the file; `to` is planted in its place. */
  from: string;
  to: string;
  wrong: string;
  /** The fewest files of tests that are known to find it. */
  foundBy: readonly string[];
};

/** Faults in every module of src, sorted by file. */
// prettier-ignore
export const faults: readonly Fault[] = [
  { file: "src/access/client-authentication.ts", from: "if (bits < rsaBits.least ||", to: "if (", wrong: "an RSA key of any length authenticates an app", foundBy: ["test/api/sign-on/client-authentication.test.ts"] },
  { file: "src/access/redirect-uri.ts", from: 'if (uri.includes("#")) return', to: 'if (uri === "#") return', wrong: "a redirect URI may have a fragment", foundBy: ["test/api/admin/apps.test.ts"] },
  { file: "src/access/scope-request.ts", from: "const missing = [...new Set(scopes)].filter((name) => !app.scopes.includes(name));", to: "const missing = [...new Set(scopes)];", wrong: "a request for scopes may name scopes that the app has", foundBy: ["test/api/admin/scope-requests.test.ts"] },
  { file: "src/access/view-version.ts", from: "coalesce(v_schools.version, 0)`", to: "0`", wrong: "a change of the schools does not change the version of what an app sees", foundBy: ["test/access/view-version.test.ts"] },
  { file: "src/access/visibility.ts", from: "AND ${p.status} = 'ACTIVE' AND ${p.role} <> 'OTHER'`;", to: "AND ${p.status} = 'ACTIVE'`;", wrong: "apps see people of role OTHER", foundBy: ["test/access/model.test.ts"] },
  { file: "src/access/visibility.ts", from: "visible(sql`(${person.status} = 'ACTIVE' AND ${personIsSynced(client, person, schoolId)})`);", to: "visible(sql`(${personIsSynced(client, person, schoolId)})`);", wrong: "apps see soft-deleted people at a school", foundBy: ["test/access/matrix.test.ts"] },
  { file: "src/access/visibility.ts", from: "WHEN 'ROLES' THEN ${role} = ANY (${grant.signOnRoles})", to: "WHEN 'ROLES' THEN true", wrong: "a grant for some roles lets all roles sign in", foundBy: ["test/access/grants.test.ts"] },
  { file: "src/accounts/cards/allowed.ts", from: "time < hours.to;", to: "time <= hours.to;", wrong: "a card works until one minute after its hours", foundBy: ["src/accounts/cards/allowed.test.ts"] },
  { file: "src/accounts/cards/use-card.ts", from: "if (row.isBlocked === true) return", to: "if (row.isBlocked === null) return", wrong: "a blocked card signs in", foundBy: ["test/flows/login-card.test.ts"] },
  { file: "src/accounts/change-password.ts", from: 'if (Array.from(password).length < shortestPassword) return "short";', to: "", wrong: "a new password may be short", foundBy: ["test/api/sign-on/new-password.test.ts"] },
  { file: "src/accounts/login/limits.ts", from: "if (device !== null && isOwnDevice)", to: "if (device !== null)", wrong: "a device known to another person escapes the shared limit", foundBy: ["test/api/sign-on/login.test.ts"] },
  { file: "src/accounts/second-factor/check.ts", from: "if (count === 1) return true;", to: "return true;", wrong: "a code of the second factor works twice", foundBy: ["test/api/sign-on/second-factor.test.ts"] },
  { file: "src/admin/card-holders.ts", from: 'const isActive = person.status === "ACTIVE" && person.blockedAt === null;', to: 'const isActive = person.status === "ACTIVE";', wrong: "cards are printed for blocked people", foundBy: ["test/api/admin/cards.test.ts"] },
  { file: "src/admin/change.ts", from: 'expected.split(",").some((one) => one.trim() === tag)) return;', to: "expected.length > 0) return;", wrong: "a change goes through whatever If-Match says", foundBy: ["test/api/admin/grants.test.ts"] },
  { file: "src/admin/erasures.ts", from: "if (filter.schoolId === undefined && filter.clientId === undefined) throw", to: "if (filter === undefined) throw", wrong: "erasures are listed without naming a school or an app", foundBy: ["test/api/admin/erasures.test.ts"] },
  { file: "src/admin/idempotency.ts", from: "if (!requestHash.equals(found.requestHash))", to: "if (requestHash.length !== found.requestHash.length)", wrong: "an idempotency key may be used for another request", foundBy: ["test/api/admin/people.test.ts"] },
  { file: "src/directory/affiliation.ts", from: "if (from === homeSchoolId) await changeHome(change, { personId, schoolId: to });", to: "", wrong: "the home school does not change with the affiliation", foundBy: ["test/api/admin/person-schools.test.ts"] },
  { file: "src/directory/grade.ts", from: "return grade >= 1 && grade <= highestGrade ? grade : null;", to: "return grade >= 0 && grade <= highestGrade ? grade : null;", wrong: "0 is a grade", foundBy: ["src/directory/grade.test.ts"] },
  { file: "src/idm/acknowledgeErasure.ts", from: 'if ((state === "kept") !== (reason !== null))', to: 'if (state === "kept" && reason === null)', wrong: "an erasure is acknowledged as done with a reason to keep", foundBy: ["test/api/idm/erasures.test.ts"] },
  { file: "src/idm/change-cursor.ts", from: "`changes of ${clientId}`;", to: "`changes of ${clientId.slice(0, 0)}`;", wrong: "the cursor of one app works for another", foundBy: ["test/api/idm/listChanges.test.ts"] },
  { file: "src/schulconnex/people.ts", from: "${at.schoolId} = ${value} AND ${schoolIsShown(client, value)}`;", to: "${at.schoolId} = ${value}`;", wrong: "Schulconnex lists people of a school that is not shown", foundBy: ["test/api/schulconnex/operations.test.ts"] },
  { file: "src/staff/give-role.ts", from: 'OR: [{ personId: null }, { person: { status: "ACTIVE", blockedAt: null } }],', to: 'OR: [{ personId: null }, { person: { status: "ACTIVE" } }],', wrong: "a blocked operator counts as the remaining one", foundBy: ["test/api/admin/last-operator.test.ts"] },
  { file: "src/staff/reach.ts", from: "return everySchool.length > 0 && everySchool.every((id) => schoolIds.has(id));", to: "return everySchool.some((id) => schoolIds.has(id));", wrong: "staff of one of a person's schools reach the whole person", foundBy: ["test/api/admin/staff.test.ts"] },
  { file: "src/upstream/find-link.ts", from: "if (match!.count !== 1) return", to: "if (match!.count === 0) return", wrong: "an upstream account is linked to one of several people", foundBy: ["test/upstream/linking.test.ts"] },
  { file: "src/webhooks/signature.ts", from: "const oldest = secrets.at(-1);", to: "const oldest = secrets.at(0);", wrong: "the newest secret signs for receivers that only have the oldest", foundBy: ["test/api/webhooks/endpoints.test.ts"] },
];
