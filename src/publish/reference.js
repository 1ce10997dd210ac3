const place = document.getElementById("reference");
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const ink = dark ? "#eaf1f0" : "#18292c";
const card = dark ? "#16272a" : "#ffffff";

Redoc.init(
  place.dataset.document,
  {
    disableSearch: false,
    expandResponses: "200",
    hideDownloadButtons: false,
    nativeScrollbars: true,
    schemaDefinitionsTagName: "Schemas",
    scrollYOffset: () => document.querySelector("header").offsetHeight,
    sortTagsAlphabetically: false,
    theme: {
      colors: {
        primary: { main: dark ? "#7fd1cf" : "#0f5c63" },
        error: { main: dark ? "#ffb4a8" : "#b3261e" },
        success: { main: dark ? "#8fd694" : "#1d6b2a" },
        responses: { redirect: { color: dark ? "#ffd28a" : "#7a4f00" } },
        text: { primary: ink, secondary: dark ? "#a9bcbd" : "#4d6266" },
      },
      schema: { nestedBackground: dark ? "#1d3538" : "#f6f3ec" },
      sidebar: { backgroundColor: dark ? "#0e1a1c" : "#f6f3ec", textColor: ink },
      rightPanel: { backgroundColor: "#0a2c30" },
      codeBlock: { backgroundColor: "#06191c" },
      typography: {
        fontSize: "16px",
        fontFamily: "system-ui, sans-serif",
        headings: { fontFamily: "system-ui, sans-serif" },
        code: { fontFamily: "ui-monospace, monospace", color: ink },
      },
    },
  },
  place,
);
place.style.backgroundColor = card;

// What Redoc leaves out for those who read by ear or by keyboard; it goes on drawing when something is opened.
new MutationObserver(() => {
  for (const heading of place.querySelectorAll("h5:not([aria-level])")) heading.setAttribute("aria-level", "3");
  for (const code of place.querySelectorAll("pre:not([tabindex])")) code.tabIndex = 0;
}).observe(place, { childList: true, subtree: true });
