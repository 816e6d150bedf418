// Write a table with dynamodb-onetable. With the argument `read`, read the table after another program has changed it.
import { Table } from "dynamodb-onetable";
import { client, create, definition, print } from "./table.mjs";

const TABLE = definition("onetable", ["pk", "sk"], { gs1: ["gs1pk", "gs1sk"] });

const schema = {
  format: "onetable:1.1.0",
  version: "0.0.1",
  indexes: { primary: { hash: "pk", sort: "sk" }, gs1: { hash: "gs1pk", sort: "gs1sk", follow: true } },
  models: {
    Account: {
      pk: { type: String, value: "account#${id}" },
      sk: { type: String, value: "account#" },
      id: { type: String, required: true },
      name: { type: String, required: true },
      balance: { type: Number, default: 0 },
      plan: { type: Object },
    },
    User: {
      pk: { type: String, value: "account#${accountId}" },
      sk: { type: String, value: "user#${email}" },
      gs1pk: { type: String, value: "user#${email}" },
      gs1sk: { type: String, value: "user#" },
      accountId: { type: String, required: true },
      email: { type: String, required: true },
      role: { type: String, enum: ["user", "admin"], default: "user" },
      joined: { type: Date },
      tags: { type: Array },
      picture: { type: "binary" },
    },
    Invoice: {
      pk: { type: String, value: "account#${accountId}" },
      sk: { type: String, value: "invoice#${number:6:0}" },
      gs1pk: { type: String, value: "invoice#${status}" },
      gs1sk: { type: String, value: "invoice#${accountId}#${number:6:0}" },
      accountId: { type: String, required: true },
      number: { type: Number, required: true },
      status: { type: String, required: true },
      total: { type: Number },
    },
  },
  params: { isoDates: true, timestamps: true },
};

const table = new Table({ name: TABLE.TableName, client, schema, partial: true });
const [Account, User, Invoice] = ["Account", "User", "Invoice"].map((name) => table.getModel(name));

async function write() {
  await create(TABLE);
  for (const id of ["a1", "a2"]) {
    await Account.create({ id, name: `Account ${id}`, plan: { name: "pro", seats: 5 } });
    for (const who of ["Ada", "Bob"]) {
      const joined = new Date(Date.UTC(2025, 4, who === "Ada" ? 1 : 2, 9, 30));
      const picture = who === "Ada" ? Buffer.from([0, 1, 255]) : undefined;
      await User.create({ accountId: id, email: `${who}.${id}@x.de`, joined, tags: ["new", who], picture });
    }
    for (const number of [1, 17]) {
      await Invoice.create({ accountId: id, number, status: number === 1 ? "paid" : "open", total: number + 0.25 });
    }
  }
  await print(TABLE);
}

/** Print the items that OneTable itself reads, from the table and from the index. */
async function read() {
  const found = [
    await Account.find({ id: "a1" }),
    await User.find({ accountId: "a1" }),
    await User.find({ email: "Ada.a1@x.de" }, { index: "gs1" }),
    await Invoice.find({ status: "open" }, { index: "gs1" }),
  ];
  console.log(JSON.stringify(found, null, 1));
}

await (process.argv[2] === "read" ? read() : write());
