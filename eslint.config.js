import tseslint from "typescript-eslint";
import { apart, everything, filesTagged } from "./test/support/suites.ts";

const noEnvironment = [
  "error",
  {
    object: "process",
    property: "env",
    message: "Only src/config reads the environment; take the value as an argument.",
  },
];

const visibleCast = {
  selector: "TSAsExpression[typeAnnotation.typeName.name=/^Visible(Rows)?$/]",
  message: "Only src/access/visibility.ts says what an app may see; compose its rules.",
};

const spreadLiteral = {
  selector: "ObjectExpression > SpreadElement > ObjectExpression",
  message: "Write the properties themselves.",
};

const wholeTable = {
  selector: "CallExpression[callee.name='table'][arguments.0.value=/^(person|school|affiliation)$/]",
  message: "What apps read comes from readTable(), which leaves out what is granted one by one.",
};

const machineTime = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: "Processes share what they decide by time: take the clock as an argument. `systemClock` is the machine's.",
};

const numberedParameter = {
  selector:
    ":matches(Literal[value=/\\b(SELECT|INSERT|UPDATE|DELETE|VALUES|WHERE|SET)\\b[^]*\\$[1-9]/], TemplateElement[value.raw=/\\$[1-9]/])",
  message: "Parameters of statements have names: write them with sql`…` of src/platform/database/sql.ts.",
};

const ownTimeout = {
  selector: [
    "CallExpression[callee.name=/^(test|(before|after)(All|Each))$/] > Literal[raw=/^[0-9]/]",
    "CallExpression[callee.callee.object.name='test'] > Literal[raw=/^[0-9]/]",
    "CallExpression[callee.name='test'] > ObjectExpression > Property[key.name='timeout'] > Literal",
    "CallExpression[callee.property.name='run'] > CallExpression[callee.object.name='AbortSignal'][callee.property.name='timeout']",
  ].join(", "),
  message: "The timeouts of test/support/run-settings.ts only end what hangs: a shorter one fails on a busy machine.",
};
const ownWalks = {
  selector:
    "CallExpression[callee.object.name='fc'][callee.property.name='assert']:not([arguments.1.callee.name='walks'])",
  message: "How often and from which seed a property is tried is said by walks() of test/support/walks.ts.",
};

const inAnyOrder = {
  selector:
    "CallExpression[callee.property.name='findMany'][callee.object.property.name='audit']:not(:has(Property[key.name='orderBy']))",
  message: "PostgreSQL returns rows in any order: say orderBy.",
};
const unlockedCount = {
  selector:
    "BinaryExpression[operator=/^[<>]=?$/][right.name=/^most/] > AwaitExpression.left > CallExpression[callee.property.name='count']",
  message: "Two requests at once both count too few: checkLimit() of src/platform/database/sql.ts counts under a lock.",
};
const polling = {
  selector: [
    "CallExpression[callee.object.name='expect'][callee.property.name='poll']",
    "CallExpression[callee.object.name='vi'][callee.property.name=/^wait(For|Until)$/]",
  ].join(", "),
  message: "In the fast suite time stands still: run the jobs, or await the promise or event itself.",
};
const slowOnly = {
  paths: [
    { name: "node:child_process", message: "A test that starts programs says `// @module-tag slow` at its head." },
    {
      name: "node:timers/promises",
      importNames: ["setTimeout"],
      message: "A test that waits for real time says `// @module-tag slow` at its head.",
    },
  ],
  patterns: [
    {
      regex: "/support/programs?\\.ts$",
      message: "A test that starts programs says `// @module-tag slow` at its head.",
    },
  ],
};

export default tseslint.config(
  {
    ignores: [
      "generated/",
      "clients/*/dist/",
      "coverage/",
      ".cache/",
      ".data/",
      "**/*.cjs",
      "test/generators/{programs,settings}/",
      "test/compatibility/programs/",
      // Its packages are installed for its tests alone, which also compile it.
      "examples/",
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-console": "error",
      eqeqeq: "error",
      // A message, a test's name or a pattern stays in one piece, so that it can be searched for.
      "max-len": [
        "error",
        { code: 120, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true, ignoreUrls: true },
      ],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "separate-type-imports" }],
      // The compiler names what is not used: noUnusedLocals and noUnusedParameters.
      "@typescript-eslint/no-unused-vars": "off",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true, allow: [{ from: "lib", name: ["URL", "URLSearchParams"] }] },
      ],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      // `return next()` and `void (x = y)` say what they do.
      "@typescript-eslint/no-confusing-void-expression": "off",
      "@typescript-eslint/no-meaningless-void-operator": "off",
      // Adapters and handlers are async because their caller's contract is.
      "@typescript-eslint/require-await": "off",
      // Dependencies are records of functions; none of them has a `this` to lose.
      "@typescript-eslint/unbound-method": "off",
      // A flag that a callback sets, and what a library's types promise too much of, look constant to it.
      "@typescript-eslint/no-unnecessary-condition": "off",
      // It takes assertions for needless without which the compiler stops.
      "@typescript-eslint/no-unnecessary-type-assertion": "off",
      // A third of the time of all rules, for enums, which erasableSyntaxOnly refuses, and for classes, which are few.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      // With noUncheckedIndexedAccess a `!` is how one says that an index exists.
      "@typescript-eslint/no-non-null-assertion": "off",
      // A row type is named where a query is made: `query<Row>(…)`.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
    },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/config/{read,remote}.ts", "**/*.test.ts"],
    rules: {
      "no-restricted-properties": noEnvironment,
      "no-restricted-imports": [
        "error",
        {
          paths: ["process", "node:process"].map((name) => ({
            name,
            importNames: ["env"],
            message: noEnvironment[1].message,
          })),
        },
      ],
    },
  },
  {
    files: ["**/*.ts"],
    ignores: ["src/access/visibility.ts"],
    rules: {
      "no-restricted-syntax": ["error", spreadLiteral, visibleCast],
    },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/access/visibility.ts", "src/cli/**", "src/platform/clock.ts"],
    rules: {
      "no-restricted-syntax": ["error", spreadLiteral, visibleCast, machineTime, numberedParameter, unlockedCount],
    },
  },
  {
    files: [
      "src/{idm,schulconnex,oneroster}/**/*.ts",
      "src/access/sign-on/claims.ts",
      "src/access/change-tracking/snapshot.ts",
    ],
    rules: {
      "no-restricted-syntax": [
        "error",
        spreadLiteral,
        visibleCast,
        wholeTable,
        machineTime,
        numberedParameter,
        unlockedCount,
      ],
    },
  },
  {
    // Tools, tests and measurements talk to a terminal.
    files: [
      "src/main.ts",
      "src/cli/terminal.ts",
      "openapi/**/*.ts",
      "prisma/**/*.ts",
      "demo/**/*.ts",
      "bench/**/*.ts",
      "test/**/*.ts",
      "*.ts",
    ],
    rules: { "no-console": "off" },
  },
  {
    // `expect.any()` and rows of a database are of type any; clients of other makers mark as deprecated what is unsafe
    // outside a test.
    files: ["{bench,test}/**/*.ts", "**/*.test.ts"],
    rules: {
      "@typescript-eslint/no-base-to-string": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-unnecessary-type-conversion": "off",
      "@typescript-eslint/no-deprecated": "off",
      "@typescript-eslint/no-misused-spread": "off",
    },
  },
  {
    files: ["{bench,test}/**/*.ts", "**/*.test.ts"],
    rules: {
      "no-restricted-syntax": ["error", spreadLiteral, visibleCast, ownWalks, ownTimeout, inAnyOrder],
    },
  },
  {
    files: [everything],
    ignores: [apart, ...filesTagged("slow")],
    rules: {
      "no-restricted-syntax": ["error", spreadLiteral, visibleCast, ownWalks, ownTimeout, inAnyOrder, polling],
      "no-restricted-imports": ["error", slowOnly],
    },
  },
  {
    files: ["test/browser/*.test.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        spreadLiteral,
        visibleCast,
        ownWalks,
        {
          selector: `CallExpression[callee.name='expect'] > AwaitExpression CallExpression[callee.property.name=/^(${[
            "allInnerTexts|allTextContents|count|evaluate|getAttribute|innerText|inputValue|isChecked|isDisabled",
            "isEnabled|isHidden|isVisible|textContent|title",
          ].join("|")})$/]`,
          message: "What is read once may be of the page before: wait for it with expect.poll() or expectHeading().",
        },
      ],
    },
  },
  {
    files: ["openapi/rules/**/*.js", "eslint.config.js"],
    extends: [tseslint.configs.strict],
    rules: { "no-console": "error", eqeqeq: "error" },
  },
  { files: ["bin/*.js"], extends: [tseslint.configs.strict], rules: { eqeqeq: "error" } },
);
