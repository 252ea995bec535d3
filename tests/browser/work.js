// Counts what a page does: what it changes in the document, what it measures, and what it paints on canvases. Runs
// before the scripts of the page and before the page's clock is replaced.
(() => {
  const nothing = () => ({ attributes: {}, texts: {}, created: {}, removed: {}, measured: {}, canvas: {}, painted: 0 });
  let work = nothing();
  const count = (kind, name, by = 1) => {
    work[kind][name] = (work[kind][name] ?? 0) + by;
  };

  const nameOf = (node) => {
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    if (!element) return node.nodeName;
    const classes = (element.getAttribute("class") ?? "").split(/\s+/).filter(Boolean);
    // Of a label only what it is of: the rest is a row or the name of a chip.
    const part = element.dataset.part ?? element.dataset.rw ?? element.dataset.label?.split(" ")[0];
    const own = element.localName + classes.map((name) => `.${name}`).join("") + (part ? `[${part}]` : "");
    return classes.length > 0 || !element.parentElement ? own : `${nameOf(element.parentElement)} > ${own}`;
  };
  const elementsIn = (node) => (node.nodeType === Node.ELEMENT_NODE ? 1 + node.querySelectorAll("*").length : 0);
  function note(records) {
    for (const { type, target, attributeName, addedNodes, removedNodes } of records) {
      if (type === "attributes") count("attributes", `${nameOf(target)}@${attributeName}`);
      else if (type === "characterData") count("texts", nameOf(target));
      else {
        for (const node of addedNodes) {
          const elements = elementsIn(node);
          if (elements > 0) count("created", nameOf(node), elements);
          else count("texts", nameOf(target));
        }
        // A removed node has no parent whose name could help: it counts for the element that it was removed from.
        for (const node of removedNodes) if (elementsIn(node) > 0) count("removed", nameOf(target), elementsIn(node));
      }
    }
  }
  const observer = new MutationObserver(note);

  /** Calls `before` with the object and the arguments at each call or read of a property of a prototype. */
  function intercept(prototype, name, before) {
    const property = Object.getOwnPropertyDescriptor(prototype, name);
    const { get, value } = property;
    if (get) {
      const replaced = function () {
        before(this, []);
        return get.call(this);
      };
      Object.defineProperty(prototype, name, { ...property, get: replaced });
    } else if (typeof value === "function") {
      const replaced = function (...options) {
        before(this, options);
        return value.apply(this, options);
      };
      Object.defineProperty(prototype, name, { ...property, value: replaced });
    }
  }

  const GEOMETRY = [
    [Element, "getBoundingClientRect getClientRects checkVisibility currentCSSZoom"],
    [Element, "clientWidth clientHeight clientTop clientLeft scrollWidth scrollHeight scrollTop scrollLeft"],
    [HTMLElement, "offsetWidth offsetHeight offsetTop offsetLeft offsetParent innerText"],
    [SVGGraphicsElement, "getBBox getCTM getScreenCTM"],
    [SVGTextContentElement, "getComputedTextLength getSubStringLength getBBox getExtentOfChar getStartPositionOfChar"],
    [SVGGeometryElement, "getTotalLength getPointAtLength isPointInFill isPointInStroke"],
    [Range, "getBoundingClientRect getClientRects"],
    [Document, "elementFromPoint elementsFromPoint"],
    [CSSStyleDeclaration, "getPropertyValue"],
  ];
  for (const [{ prototype }, names] of GEOMETRY) {
    for (const name of names.split(" ")) {
      if (Object.hasOwn(prototype, name)) intercept(prototype, name, () => count("measured", name));
    }
  }
  for (const name of ["getComputedStyle", "innerWidth", "innerHeight"]) {
    if (Object.hasOwn(window, name)) intercept(window, name, () => count("measured", name));
  }

  // The state of contexts for the area that is painted, CSS px²: of a clip, the sum of its rectangles.
  const clips = new WeakMap();
  const stateOf = (context) => {
    if (!clips.has(context)) clips.set(context, { path: 0, clip: Infinity, saved: [] });
    return clips.get(context);
  };
  const isShown = ({ canvas }) => canvas instanceof HTMLCanvasElement && canvas.isConnected;
  const scaleOf = (context) => {
    const { a, b, c, d } = context.getTransform();
    return Math.abs(a * d - b * c);
  };
  const paint = (context, area) => {
    if (isShown(context)) work.painted += Math.min(area, stateOf(context).clip);
  };
  const effects = {
    beginPath: (state) => {
      state.path = 0;
    },
    rect: (state, [, , width, height]) => {
      state.path += Math.abs(width * height);
    },
    clip: (state) => {
      state.clip = Math.min(state.clip, state.path);
    },
    save: (state) => state.saved.push(state.clip),
    restore: (state) => {
      state.clip = state.saved.pop() ?? Infinity;
    },
    clearRect: (_, [, , width, height], context) => paint(context, Math.abs(width * height)),
    fillRect: (_, [, , width, height], context) => paint(context, Math.abs(width * height)),
    // Image data ignore the clip and the transformation.
    putImageData(_, [image, , , , , width = image.width, height = image.height], context) {
      if (isShown(context)) work.painted += Math.abs(width * height) / (scaleOf(context) || 1);
    },
  };
  for (const { prototype } of [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D]) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      // Properties only set what later calls paint with; this script itself calls the method getTransform.
      const isMethod = typeof Object.getOwnPropertyDescriptor(prototype, name).value === "function";
      if (!isMethod || name === "constructor" || name === "getTransform") continue;
      intercept(prototype, name, (context, options) => {
        count("canvas", name);
        effects[name]?.(stateOf(context), options, context);
      });
    }
  }

  // Of the browser's own clock.
  const [frame, task] = [window.requestAnimationFrame.bind(window), window.setTimeout.bind(window)];
  window.work = {
    /** Resolves after the browser has laid out the page and told its observers. */
    laidOut: () => new Promise((done) => frame(() => task(() => done(undefined)))),
    start(root) {
      observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
      observer.takeRecords();
      work = nothing();
    },
    /** Returns what was counted since the start. */
    counts() {
      note(observer.takeRecords());
      return work;
    },
  };
})();
