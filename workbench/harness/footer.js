// The line under an explorer: what is shown, and the command that reruns it.
// The two elements live as long as the view, so that screen readers hear a change of text
// and a selection in the command survives a redraw.

function render({ model, el }) {
  el.classList.add("workbench-footer");

  const status = document.createElement("div");
  status.setAttribute("role", "status");
  status.setAttribute("aria-live", "polite");

  const row = document.createElement("label");
  row.className = "workbench-command";
  row.append("Rerun this: ");
  const command = document.createElement("input");
  command.type = "text";
  command.readOnly = true;
  command.spellcheck = false;
  command.setAttribute("aria-label", "command line that reruns what is shown");
  command.addEventListener("focus", () => command.select());

  const copy = document.createElement("button");
  copy.type = "button";
  copy.textContent = "Copy";
  copy.className = "jupyter-button widget-button";
  copy.addEventListener("click", async () => {
    command.select();
    try {
      await navigator.clipboard.writeText(command.value);
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy"), 1500);
    } catch {
      // Without access to the clipboard the text stays selected, ready for Ctrl-C.
    }
  });
  row.append(command, copy);
  el.append(status, row);

  const update = () => {
    status.textContent = model.get("text");
    status.dataset.state = model.get("state");
    status.setAttribute("aria-busy", String(model.get("state") === "busy"));
    command.value = model.get("command");
    row.style.display = model.get("command") ? "" : "none";
  };
  for (const trait of ["text", "state", "command"]) model.on(`change:${trait}`, update);
  update();
}

export default { render };
