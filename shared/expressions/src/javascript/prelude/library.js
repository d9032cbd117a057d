// Makes libraries global. Each is read when a script first uses it.
(function (names, read) {
  "use strict";
  const unread = Object.create(null), made = Object.create(null);
  const put = (name, value) => {
    delete unread[name];
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  };
  const run = (file, require) => {
    const module = { exports: {} };
    read(file).call(globalThis, globalThis, module, module.exports, require);
    return module.exports;
  };
  const make = {
    lodash: () => run("lodash"),
    lodashFp: () => {
      const base = library("lodash").runInContext(), mapping = run("mapping");
      const convert = run("fp", (name) => (name === "./_mapping" ? mapping : {}));
      return convert(base, base);
    },
    moment: () => run("moment"),
  };
  const library = (wanted) => {
    if (!(wanted in made)) {
      const own = Object.keys(unread).filter((name) => unread[name] === wanted);
      // A library asks whether its name is taken.
      own.forEach((name) => put(name, undefined));
      made[wanted] = make[wanted]();
      own.forEach((name) => put(name, made[wanted]));
    }
    return made[wanted];
  };
  names.forEach(([name, wanted]) => {
    unread[name] = wanted;
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => library(wanted),
      set: (value) => put(name, value),
    });
  });
});
