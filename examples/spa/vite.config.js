// 127.0.0.1:4002 is what the demo world has registered for demo-spa.
export default { server: { host: "127.0.0.1", port: 4002, strictPort: true } };
