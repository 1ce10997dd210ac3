/** Files of `src` with named SQL, each with the reason; `src/a/{b,c}.ts` is two files. */
export const namedSql: readonly (readonly [files: readonly string[], reason: string])[] = [
  [["src/platform/database/{sql,json-sql,parameters-sql,lookup-sql,uuid-sql}.ts"], "what named SQL is made of"],
  [
    [
      "src/platform/database/{session,database-clock,silent-connections,replica,shares,statistics}.ts",
      "src/platform/migrations/migrate.ts",
      "src/platform/jobs/wake-up.ts",
    ],
    "settings of connections, whether a server still answers and how far a replica is, migrations, `ANALYZE`, `LISTEN`: statements about the server, not about records",
  ],
  [
    ["src/platform/postgres/{embedded,reach}.ts"],
    "creates the database; asks for version, encoding and connections of the server",
  ],
  [
    ["src/platform/postgres/{copy,dump,unfinished-restore}.ts", "src/cli/backup.ts"],
    "statements about the server: the backup, the mark of a restore that is not finished, statistics after it",
  ],
  [
    ["src/cli/erasure/{app-ids,prove,tables}.ts"],
    "searches every table that the catalogue has, known to the schema or not, by COPY in one snapshot; the hash of a user name is made in the database",
  ],
  [
    ["src/platform/database/token-bucket.ts"],
    "a limit is one conditional upsert, so that processes share it and a refused request writes nothing",
  ],
  [
    ["src/platform/http/{answer,send-list,version}.ts"],
    "frame of the prepared reads: one statement answers version and body; long lists are streamed by a cursor, and what nobody waits for is cancelled",
  ],
  [["src/app.ts"], "the health check asks the server, not a table"],
  [["src/events/app-event.ts"], "events of many apps and subjects in one statement, whose ids and order come from it"],
  [["src/events/audit.ts"], "audit lines of many uses of tokens, within the statement of the token store"],
  [["src/events/feed.ts"], "prepared read of the change feed"],
  [["src/sign-on/protocol/storage/forget-sign-ins.ts"], "`TRUNCATE` of tokens after a restore"],
  [["src/events/audit-partitions.ts"], "makes, lists and drops partitions"],
  [
    ["src/events/{sequence,sweep,sweep-audit}.ts"],
    "positions and removal in batches, under a row lock or by index whatever the statistics say",
  ],
  [["src/directory/person-status.ts"], "row lock; the people to purge without a list of any length that failed"],
  [
    ["src/directory/affiliation.ts"],
    "the source id at the next home: one expression for a single move and for imports",
  ],
  [
    ["src/directory/{find,order}.ts"],
    "search in several columns together; Prisma Client reads the records that it finds",
  ],
  [["src/directory/handover.ts"], "row lock; removal in batches by index"],
  [["src/directory/transitions.ts"], "the table of steps as conditions, for the statements of imports"],
  [
    ["src/access/{visibility,attributes,withheld-sql,view-version}.ts"],
    "the rule of visibility, of what was granted of a record and is withheld, and the version of a list, composed by every reader",
  ],
  [
    ["src/access/pairwise.ts"],
    "the ids by which apps know people, composed by every reader and made in the statement that writes events",
  ],
  [
    ["src/access/erasures.ts", "src/access/erasure-counts.ts", "src/access/erasure-record.ts"],
    "what apps must erase, in the statement that writes events, set-based; a conditional update; removal in batches by index",
  ],
  [
    ["src/access/id-move/{announce,forget,id-changes,job,known,prepare,writers}.ts"],
    "ids and events of very many people in batches, a list composed of the rule of visibility, leases, row locks",
  ],
  [["src/access/change-tracking/locks.ts"], "advisory locks of schools"],
  [
    ["src/access/change-tracking/{index,snapshot,parameter-store,table-store}.ts"],
    "snapshots of few subjects from parameters, of whole schools in temporary tables",
  ],
  [
    ["src/access/change-tracking/{diff,announced,seen}.ts"],
    "the differences of all subjects, and what is announced of them, in one statement each",
  ],
  [
    ["src/access/disclosure/{record,registration,withheld}.ts"],
    "written within the statement that writes events, for all people and apps of a change; the same for a registration",
  ],
  [
    ["src/access/disclosure/{recorded,sweep}.ts"],
    "what is recorded and what is so without a row in one statement; removal in batches, for each app by index",
  ],
  [["src/access/apps-of-groups.ts"], "the apps of many groups, by both kinds of grants, in one statement"],
  [["src/access/apps-of-person.ts"], "all apps of a person in one statement, composed of the rule of visibility"],
  [["src/sign-on/protocol/sessions.ts"], "sessions and tokens of a person, of which only those of now count"],
  [
    ["src/access/sign-on-explanation.ts", "src/sign-on/protocol/explain.ts"],
    "the facts of a sign-in in one statement, composed of the rule that decides it",
  ],
  [
    ["src/access/{sign-on-right,subject-claims}.ts"],
    "read by every sign-on, composed of the rule of visibility, many pairs in one statement",
  ],
  [["src/access/last-calls.ts"], "the last calls of many apps in one statement, composed of the rule of visibility"],
  [["src/access/catalogue.ts"], "the last sign-in to each app by anybody of a school: an aggregate over a join"],
  [
    ["src/access/sign-in.ts"],
    "written by every sign-on: one conditional upsert, also within the statement of the token store",
  ],
  [
    ["src/staff/class-teachers.ts"],
    "an aggregate over joins: who teaches which class and holds no role; an advisory lock of the school",
  ],
  [
    ["src/staff/give-role.ts"],
    "an advisory lock, so that two operators do not withdraw each other's role at the same time",
  ],
  [["src/staff/held-roles-sql.ts"], "a condition of the statements that check passwords, sessions and tokens"],
  [["src/access/{find-app,grant}.ts"], "the app of every sign-on, prepared; row locks"],
  [["src/access/withheld.ts"], "what an app got is withheld at all its schools, in one statement"],
  [["src/access/agreement-acceptance.ts"], "row lock that several schools share"],
  [["src/access/app-logo.ts"], "the name of the logo, within the statement that finds a sign-on and its app"],
  [["src/access/app-likeness.ts"], "an advisory lock, so that two apps do not take the same name at the same time"],
  [["src/access/delete-app.ts"], "lifts the time limit of its transaction"],
  [
    [
      "src/idm/{acknowledgeErasure,erasures,getGroup,getSchool,listChanges,listErasures,listIdentifierChanges,listSchools,records}.ts",
    ],
    "prepared reads of the IDM API whose JSON is built in PostgreSQL; measured against `include`",
  ],
  [["src/schulconnex/{getPersonInfo,people,records}.ts"], "the same for Schulconnex"],
  [["src/portal/home/tiles.ts"], "one prepared read for the tiles of a person, composed of the rule of visibility"],
  [["src/sandbox/find.ts"], "the row lock of a change"],
  [["src/directory/retention-policy.ts"], "what applies to a school, joined by the statements on many schools too"],
  [
    ["src/retention/{due,job}.ts"],
    "who is due at many schools, from several tables in one statement; leases and row locks",
  ],
  [["src/retention/sweep-audit.ts"], "removal by the day of a school, found by index"],
  [
    ["src/admin/{today-logins,today-some,today-sql}.ts"],
    "what there is to do, of the tables of several modules in one statement",
  ],
  [
    ["src/traffic/{figures,job-runs,logs}.ts"],
    "counts and lines of many apps in one statement, sums, and removal of what is more than a share",
  ],
  [["src/traffic/read-logs.ts"], "worded as the index on the names of an attempt is"],
  [["src/imports/{staging,tables}.ts"], "staging by `COPY`; the temporary tables of a comparison"],
  [["src/imports/{check,preview}.ts"], "finds faults in all staged rows, and the schools that they name"],
  [
    ["src/imports/{difference,difference-people,difference-groups,counts}.ts"],
    "compares a whole school with its staged rows, and counts; sets memory and time for it",
  ],
  [["src/imports/{apply-part,apply-steps}.ts"], "applies the difference of a whole school, table by table"],
  [
    ["src/imports/keep-staff.ts"],
    "finds and keeps the staff among those whom a comparison would remove, in its temporary tables",
  ],
  [
    ["src/imports/{faulty-rows,faulty-archive-rows,warnings}.ts"],
    "takes faulty rows out of all staged ones, and looks for likely mistakes in these",
  ],
  [["src/imports/record.ts"], "removes all staged rows of an import; sets the time limit for it, and `ANALYZE`"],
  [
    ["src/imports/of-person.ts"],
    "the changes of all people of an import in one statement, out of the temporary tables; removal in batches",
  ],
  [["src/imports/find.ts"], "imports whose schools all lie within a reach: a comparison of arrays"],
  [["src/imports/{group-moves,move-classes}.ts"], "says of many staged groups at once from which ones they go on"],
  [["src/imports/{listed,listed-groups,look-alikes}.ts"], "lists out of the temporary tables of a comparison"],
  [
    ["src/imports/{change-record,undo,undo-part,undo-plan}.ts"],
    "records what an import changes of a whole school, as JSON, and brings it back, table by table",
  ],
  [["src/imports/fault-lines.ts"], "writes the lines of all faults of an import at once"],
  [["src/imports/roster-names.ts"], "the user names that the files give the people of a school"],
  [
    ["src/imports/{lease,queue}.ts"],
    "leases of schools and turns: advisory and row locks, and the clock of the server",
  ],
  [
    ["src/sign-on/protocol/storage/{artifact,lookup,surplus-sessions,open-interaction,write,use-token}.ts"],
    "the token store: many requests in one statement, each by itself",
  ],
  [
    ["src/sign-on/protocol/storage/check-access-token.ts"],
    "all tokens presented at the same time in one prepared statement",
  ],
  [
    ["src/sign-on/protocol/storage/raise-session.ts"],
    "a session that may have ended meanwhile, in one conditional statement",
  ],
  [
    ["src/sign-on/protocol/storage/{limit-tokens,sweep,forget-app}.ts", "src/accounts/forget-person.ts"],
    "removes expired and surplus tokens, and all of an app or a person, by index",
  ],
  [
    ["src/sign-on/protocol/{admin-scopes,consent,signed-in}.ts"],
    "read at every sign-on and page, many pairs in one statement; a choice of school waits for no lock",
  ],
  [
    [
      "src/accounts/login/{check-password,known-devices,limits,local-passwords,rate-limits,wrong-passwords}.ts",
      "src/sign-on/protocol/login-hint.ts",
    ],
    "the login of every sign-on: credential, rate limits and known devices in prepared statements",
  ],
  [
    ["src/accounts/login/{credential,sweep}.ts"],
    "one upsert, which two writers at the same time cannot break; removal in batches",
  ],
  [
    ["src/accounts/user-names/{give-names,give-at-school}.ts"],
    "user names of a whole school in a few statements; locks of people",
  ],
  [["src/accounts/{make-passwords,set-secrets}.ts"], "passwords of many people in one statement, under row locks"],
  [["src/accounts/batches/prepare.ts"], "one process takes a batch for a time, by the clock of the database"],
  [["src/accounts/batches/batch.ts"], "the people of a whole school in one statement"],
  [
    ["src/accounts/cards/{last-card,use-card}.ts"],
    "the sign-in by card: the card with all that decides on it, and its limits, in one prepared statement",
  ],
  [["src/directory/class-sign-ins.ts"], "several counts of each class in one statement"],
  [["src/directory/sign-in-state.ts"], "conditions that the list of people and the numbers of it share"],
  [["src/accounts/cards/settings.ts"], "all who hold a card of the school in one statement"],
  [
    ["src/accounts/{current-sign-in,end-sign-ins,void-sign-ins,logout-notices}.ts"],
    "ends all sessions and tokens of a person at once; notices are leased",
  ],
  [
    ["src/upstream/{round-trip,ready-connection,find-link,roster,record-sign-in,contact,note-outcome}.ts"],
    "the sign-in through a school's own login: a state that is good once, its connection, the person and what is written in few prepared statements; a rule that is compared in the database",
  ],
  [["src/upstream/guest.ts"], "counts the accounts that wait, of one connection that is locked"],
  [
    ["src/upstream/mentions.ts"],
    "a function of the database, by which the deletion of a person finds what is encrypted",
  ],
  [["src/upstream/refusals.ts"], "one conditional upsert, and the oldest beyond the limit"],
  [["src/upstream/change-connection.ts"], "a row lock, for which new links wait"],
  [["src/upstream/set-up-links.ts"], "a conditional count of test sign-ins, exact for those that come back at once"],
  [["src/upstream/school-logins.ts"], "a part of the statement that explains a sign-in"],
  [["src/upstream/way-in.ts"], "the buttons of each sign-in page; the search of schools by words; a row lock"],
  [["src/upstream/jobs.ts"], "removal in batches by index; connections that are due are leased"],
  [
    ["src/sign-on/protocol/keys/{signing-keys,published-keys,rotation,shared-secrets}.ts"],
    "an advisory lock around rotation; of several processes that start, one makes a secret; all keys in one read",
  ],
  [
    ["src/sign-on/protocol/keys/re-encrypt.ts", "src/webhooks/secret.ts", "src/upstream/client-secrets.ts"],
    "secrets that are encrypted anew in one pass, under row locks",
  ],
  [
    ["src/webhooks/{fan-out,payload}.ts"],
    "the deliveries of a batch of events in one statement, with bodies built in PostgreSQL",
  ],
  [["src/webhooks/{queue,log}.ts"], "queues of subjects: which delivery is first, also when some are repeated"],
  [
    ["src/webhooks/delivery/{due,lease,record}.ts"],
    "what is due, its lease, and what came of many attempts in one statement",
  ],
  [
    ["src/webhooks/listener/{take,waits}.ts"],
    "takes what is due as a lease does; looks for all requests that wait in one statement",
  ],
  [["src/webhooks/listener/replay.ts"], "copies of deliveries into queues in one statement"],
  [["src/webhooks/endpoint-figures.ts"], "percentiles of the newest deliveries of an endpoint"],
  [
    ["src/webhooks/find-endpoint.ts"],
    "counts what is pending, worded as the partial indexes are; the row lock of a change",
  ],
  [["src/webhooks/{drop,endpoint,sweep}.ts"], "removal in batches of bounded size"],
];
