// A server on the TypeScript SDK, version 1, with one tool that returns a fixed text, for comparison
// in `bench mcp`. The SDK is found through NODE_PATH.
//
//   node ts_sdk_echo.cjs stdio
//   node ts_sdk_echo.cjs http PORT     one session, answers as JSON, which is faster in the SDK
'use strict';

const { randomUUID } = require('node:crypto');
const { createServer } = require('node:http');
const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');
const {
  StreamableHTTPServerTransport,
} = require('@modelcontextprotocol/sdk/server/streamableHttp.js');

function newServer() {
  const server = new McpServer({ name: 'ts-sdk', version: '1' });
  const text = 'This is a simple text response for testing.';
  server.registerTool('test_simple_text', { description: 'Says one thing.', inputSchema: {} }, () => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}

function serveHttp(port) {
  const sessions = new Map();
  const transportOf = async (request) => {
    const known = sessions.get(request.headers['mcp-session-id']);
    if (known) return known;
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: true,
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await newServer().connect(transport);
    return transport;
  };
  createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const transport = await transportOf(request);
    await transport.handleRequest(request, response, JSON.parse(Buffer.concat(parts).toString()));
  }).listen(port, '127.0.0.1');
}

const [mode, port] = process.argv.slice(2);
if (mode === 'stdio') newServer().connect(new StdioServerTransport());
else serveHttp(Number(port));
