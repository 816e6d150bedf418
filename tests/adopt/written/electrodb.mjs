// Write a table with ElectroDB. With the argument `read`, read the table after another program has changed it.
import { Entity, Service } from "electrodb";
import { client, create, definition, print } from "./table.mjs";

const TABLE = definition("electro", ["pk", "sk"], { gsi1: ["gsi1pk", "gsi1sk"] });

const Task = new Entity(
  {
    model: { entity: "task", version: "1", service: "planner" },
    attributes: {
      team: { type: "string", required: true },
      project: { type: "string", required: true },
      taskId: { type: "string", required: true },
      points: { type: "number" },
      done: { type: "boolean" },
      tags: { type: "set", items: "string" },
      steps: { type: "list", items: { type: "map", properties: { text: { type: "string" }, hours: { type: "number" } } } },
      assignee: { type: "string" },
      createdAt: { type: "string", required: true },
    },
    indexes: {
      byTeam: { pk: { field: "pk", composite: ["team"] }, sk: { field: "sk", composite: ["project", "taskId"] } },
      assigned: {
        index: "gsi1",
        pk: { field: "gsi1pk", composite: ["assignee"] },
        sk: { field: "gsi1sk", composite: ["createdAt"] },
      },
    },
  },
  { client, table: TABLE.TableName },
);

const Employee = new Entity(
  {
    model: { entity: "employee", version: "2", service: "planner" },
    attributes: {
      team: { type: "string", required: true },
      email: { type: "string", required: true },
      name: { type: "string", required: true },
      salary: { type: "number", padding: { length: 8, char: "0" } },
      office: { type: "map", properties: { city: { type: "string" }, floor: { type: "number" } } },
    },
    indexes: {
      byTeam: { pk: { field: "pk", composite: ["team"] }, sk: { field: "sk", composite: ["email"] } },
      bySalary: {
        index: "gsi1",
        pk: { field: "gsi1pk", composite: ["team"] },
        sk: { field: "gsi1sk", composite: ["salary"] },
      },
    },
  },
  { client, table: TABLE.TableName },
);

async function write() {
  await create(TABLE);
  for (const [team, number] of [["Green Team", 1], ["Green Team", 2], ["Blue", 1], ["Blue", 12]]) {
    await Task.put({
      team,
      project: number % 2 ? "Core" : "Web Site",
      taskId: `t-${number}`,
      points: number * 1.5,
      done: number === 1,
      tags: [`tag ${number}`, "all"],
      steps: [{ text: "think", hours: number }],
      createdAt: `2026-01-0${(number % 7) + 1}T08:00:00.000Z`,
      ...(number === 2 ? {} : { assignee: `Ada${number}@x.de` }),
    }).go();
  }
  for (const [name, salary] of [["Ada", 5000], ["Bob", 12500], ["Cyd", 900]]) {
    const office = { city: "Bern", floor: 2 };
    await Employee.put({ team: name === "Cyd" ? "Blue" : "Green Team", email: `${name}@X.de`, name, salary, office }).go();
  }
  await print(TABLE);
}

/** Print the items that ElectroDB itself reads, from the table and from the index. */
async function read() {
  const service = new Service({ task: Task, employee: Employee }, { client, table: TABLE.TableName });
  const found = [
    (await Task.query.byTeam({ team: "Green Team" }).go()).data,
    (await Task.query.assigned({ assignee: "Ada1@x.de" }).go()).data,
    (await service.entities.employee.query.bySalary({ team: "Green Team" }).go()).data,
  ];
  const plain = (_, value) => (value instanceof Set ? [...value].sort() : value);
  console.log(JSON.stringify(found, plain, 1));
}

await (process.argv[2] === "read" ? read() : write());
