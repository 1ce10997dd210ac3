/** The modules, lowest first; a module may import the ones before it. Those of the last line do not know each other. */
const ladder = ["platform", "privacy", "traffic", "events", "directory", "access", "staff", "accounts", "upstream"];
const siblings = ["sign-on", "imports", "retention", "idm", "schulconnex", "oneroster", "webhooks", "publish"];
const inModules = (...modules) => `^src/(${modules.join("|")})/`;
/** Above them, lowest first: what staff may do is done by all modules below; the pages call what staff may do. */
const top = ["admin", "portal"];
/** Between the siblings and admin; they do not know each other. */
const middle = ["sandbox", "connections"];
const composition = "^src/[^/]+\\.ts$";

const oneWay = ladder.map((module, height) => ({
  name: `${module}-looks-down`,
  comment: `${module} imports only the modules below it.`,
  severity: "error",
  from: { path: inModules(module) },
  to: { path: inModules(...ladder.slice(height + 1), ...siblings) },
}));

/** Folders in which files still know each other. A folder that has no circle any more goes from this list; none is added. */
const foldersWithCircles = [
  ...["accounts/cards", "admin", "imports/formats", "imports/read", "imports/state", "portal/frame"],
  ...["sign-on/protocol", "upstream"],
];

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...oneWay,
    {
      name: "siblings-do-not-know-each-other",
      comment: "Modules of the top row are put together in src/app.ts only.",
      severity: "error",
      from: { path: `^src/(${siblings.join("|")})/` },
      to: { path: inModules(...siblings), pathNot: "^src/$1/" },
    },
    {
      name: "admin-on-top",
      comment:
        "admin uses all modules below it; only the pages, src/app.ts and the local client of the command line use it.",
      severity: "error",
      from: {
        path: "^(src|demo|prisma|openapi|bench)/",
        pathNot: `${inModules(...top)}|^src/(app|cli/local/connect)\\.ts$`,
      },
      to: { path: inModules("admin") },
    },
    {
      name: "sandbox-and-connections-below-admin",
      comment:
        "sandbox and connections use the modules below them, which do not know them; admin, the command line and src/app.ts use them.",
      severity: "error",
      from: {
        path: "^(src|demo|prisma|openapi|bench)/",
        pathNot: `${inModules(...middle, ...top, "cli")}|^src/app\\.ts$`,
      },
      to: { path: inModules(...middle) },
    },
    {
      name: "sandbox-beside-connections",
      comment: "sandbox and connections are put together by admin and src/app.ts.",
      severity: "error",
      from: { path: `^src/(${middle.join("|")})/` },
      to: { path: inModules(...middle), pathNot: "^src/$1/" },
    },
    {
      name: "portal-on-top",
      comment: "Only src/app.ts uses the portal.",
      severity: "error",
      from: { path: "^(src|demo|prisma|openapi|bench)/", pathNot: `${inModules("portal")}|^src/app\\.ts$` },
      to: { path: inModules("portal") },
    },
    {
      name: "pages-through-the-admin-api",
      comment:
        "The pages of staff have no power of their own: they call the admin API. Only the tiles of a person read by themselves.",
      severity: "error",
      from: { path: "^src/portal/", pathNot: "^src/portal/home/" },
      to: { path: inModules(...ladder.slice(1), ...siblings, ...middle), dependencyTypesNot: ["type-only"] },
    },
    {
      name: "areas-do-not-know-each-other",
      comment: "The areas of the portal share the frame, and nothing else.",
      severity: "error",
      from: { path: "^src/portal/([^/]+)/" },
      to: { path: "^src/portal/[^/]+/", pathNot: "^src/portal/($1|frame)/" },
    },
    {
      name: "public-api-only",
      comment:
        "Other modules are imported by their index.ts, but for the files that the command line in the package for partners has without the rest of their module, and the codes of which documents are generated.",
      severity: "error",
      from: { path: "^(src|demo|prisma|openapi|bench)/([^/]+)" },
      to: {
        path: `${inModules(...ladder.slice(1), ...siblings, ...middle, ...top, "config")}(?!index\\.ts$)`,
        pathNot: "^$1/$2/|^src/(access/(client-authentication|token)|config/remote|schulconnex/codes)\\.ts$",
      },
    },
    {
      name: "platform-by-module",
      comment: "platform has a folder for each subject; those with an index.ts are imported by it.",
      severity: "error",
      from: { path: "^(?!test/(?!bench/))", pathNot: "^src/platform/|\\.test\\.ts$" },
      to: { path: "^src/platform/(http|pages|postgres|threads|advice/[^/]+|telemetry/tracing)/(?!index\\.ts$)" },
    },
    {
      name: "folders-one-way",
      comment: "Two folders of one module do not know each other, not even by way of a third, and not even by a type.",
      severity: "error",
      scope: "folder",
      from: { path: "^src/" },
      to: { path: "^src/", circular: true },
    },
    {
      name: "files-one-way",
      comment: "Two files do not know each other, not even by way of a third, and not even by a type.",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/(${foldersWithCircles.join("|")})/` },
      to: { path: "^src/", circular: true },
    },
    {
      name: "composition-on-top",
      comment:
        "Nothing inside a module knows how the service is put together, what the environment says or what an operator types.",
      severity: "error",
      from: { path: "^src/[^/]+/", pathNot: "^src/(cli|config)/" },
      to: { path: "^src/([^/]+\\.ts|(cli|config)/.*)$" },
    },
    {
      name: "command-line-beside-the-service",
      comment:
        "cli stands above all modules and reads the configuration; it neither starts the service nor is part of it.",
      severity: "error",
      from: { path: "^src/cli/" },
      to: { path: "^src/[^/]+\\.ts$" },
    },
    {
      name: "remote-through-the-admin-api",
      comment:
        "A command on a remote service calls the admin API; of the modules it knows types, and the names of scopes and of its app.",
      severity: "error",
      from: { path: "^src/cli/remote/" },
      to: {
        path: inModules(...ladder.slice(1), ...siblings, ...middle, ...top),
        pathNot: "^src/access/token\\.ts$",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "no-cycles",
      comment: "Two modules may know each other's types, for these are gone when the service runs.",
      severity: "error",
      from: { pathNot: "^generated/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "src-stands-alone",
      comment: "What runs in production needs no test or build tool; the demo world enters at the top.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|openapi|prisma|demo)/", pathNot: "^demo/" },
    },
    {
      name: "demo-enters-at-the-top",
      severity: "error",
      from: { path: "^src/", pathNot: composition },
      to: { path: "^demo/" },
    },
    {
      name: "contract-types-in-their-module",
      comment:
        "The generated types of a document belong to the module that serves it; publish hands all of them out. " +
        "The actions of the audit log belong to events, which records them, the labels of properties to the pages.",
      severity: "error",
      from: { path: `^src/(${[...ladder, ...siblings, ...middle, ...top].join("|")})/`, pathNot: "^src/publish/" },
      to: {
        path: "^generated/openapi/",
        pathNot: "^generated/openapi/($1[./-]|audit-actions\\.ts$|property-labels\\.json$)",
      },
    },
    {
      name: "record-below-the-readers",
      comment: "The Prisma client is for the modules that own tables.",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: `${inModules(...ladder, "sign-on", "imports", "retention", "webhooks", ...middle)}|${composition}`,
      },
      to: { path: "^generated/prisma/" },
    },
    {
      name: "generated-imports-nothing-of-ours",
      severity: "error",
      from: { path: "^generated/" },
      to: { path: "^(src|test|demo|openapi|prisma)/" },
    },
    {
      name: "no-test-in-production",
      comment: "A test is not a module to import.",
      severity: "error",
      from: {},
      to: { path: "\\.test\\.ts$" },
    },
    {
      name: "client-knows-the-contract-only",
      comment:
        "The package for partners is installed without the service, and runs where there is nothing but web standards.",
      severity: "error",
      from: { path: "^clients/typescript/src/" },
      to: { pathNot: "^clients/typescript/src/|^generated/openapi/[^/]+\\.ts$|^node_modules/openapi-fetch/" },
    },
    {
      name: "client-has-one-door",
      comment: "Only what the package exports is for others.",
      severity: "error",
      from: { pathNot: "^clients/" },
      to: { path: "^clients/typescript/src/(?!(index|sqlite)\\.ts$)" },
    },
    {
      name: "tools-know-the-contract-only",
      comment:
        "The tools for partners run without the service: on Node, the generated types and the packages they name.",
      severity: "error",
      from: { path: "^clients/tools/" },
      to: {
        pathNot: "^clients/tools/src/|^generated/openapi/[^/]+\\.ts$|^node_modules/(jose|openapi-fetch)/",
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "tools-have-a-door-each",
      comment: "The command line and the pages use what the index.ts of a tool exports.",
      severity: "error",
      from: { pathNot: "^(clients/tools|test)/" },
      to: { path: "^clients/tools/src/(?![^/]+/index\\.ts$)" },
    },
    {
      name: "packers-read-files-only",
      comment: "What partners install is packed from files, also by tools: the packers import nothing of the service.",
      severity: "error",
      from: { path: "^clients/pack/" },
      to: { pathNot: "^clients/pack/|^node_modules/(modern-tar|yaml)/", dependencyTypesNot: ["core"] },
    },
    {
      name: "packers-have-two-doors",
      comment: "The service names the packages at its start, and loads what packs them in a thread.",
      severity: "error",
      from: { pathNot: "^clients/pack/" },
      to: { path: "^clients/pack/(?!(index|names)\\.ts$)" },
    },
    {
      name: "no-dev-dependency-in-src",
      comment: "npm ci --omit=dev must be enough to run the service.",
      severity: "error",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "resolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: {
      path: "^(clients/[^/]+/dist|test/generators/(programs|settings)|test/compatibility/programs|bench/peers/better-auth|generated/(redoc|client)|\\.cache|coverage)/",
    },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "types", "default"] },
  },
};
