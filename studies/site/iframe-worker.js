// Search runs in a worker, which browsers refuse to a page on a disk. There a hidden frame takes the worker's place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = () => undefined; // of other languages than English, which the site has none of
      const script = Object.assign(inside.document.createElement("script"), { src: url });
      script.addEventListener("load", () => {
        this.inside = inside;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
      inside.document.head.append(script);
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
  };
}
