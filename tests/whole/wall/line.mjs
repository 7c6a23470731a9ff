// A proxy between a browser and the server whose connections can be cut.

import net from "node:net";

export async function startProxy(port) {
  const open = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(port, "127.0.0.1");
    open.add(near);
    near.on("close", () => {
      open.delete(near);
      far.destroy();
    });
    far.on("close", () => near.destroy());
    for (const end of [near, far]) end.on("error", () => {});
    near.pipe(far).pipe(near);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    cut: () => open.forEach((near) => near.resetAndDestroy()),
    close: () => server.close(),
  };
}
