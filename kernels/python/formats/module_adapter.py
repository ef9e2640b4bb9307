"""The rest of ref.py for suites whose problems are modules: MODULE says which file, which constants
are sizes, and where every tensor goes."""


class ModuleReference:
    def __init__(self, module, sources):
        self.plan = module
        self.sources = sources
        self.kept = (None, None)

    def suite(self, dims, device):
        values = dict(self.plan["fixed"])
        for dim, constants in self.plan["dims"].items():
            values.update({constant: dims[dim] for constant in constants if dim in dims})
        return loaded(self.sources, self.plan["file"], values, device)

    def inputs(self, seed, dims):
        device = here()
        try:
            with torch.device(device), torch.no_grad():
                suite = self.suite(dims, device)
                torch.manual_seed(seed)
                given = suite.get_inputs()
                torch.manual_seed(seed + 1)
                state = self.model(suite).state_dict()
        except Exception as error:
            raise located(error, self.sources) from error
        made = named(self.plan["args"], given)
        made.update({name: as_bytes(state[key]) for key, name in self.plan["state"].items()})
        return {name: value.to(device) for name, value in made.items()}

    def model(self, suite):
        init = suite.get_init_inputs() if hasattr(suite, "get_init_inputs") else []
        model = suite.Model(**init) if isinstance(init, dict) else suite.Model(*init)
        return model.eval() if self.plan["eval"] else model

    def reference(self, given):
        given = typed(given, self.plan["types"])
        names = [*named_leaves(self.plan["args"]), *self.plan["state"].values()]
        device = next((given[name].device for name in names), torch.device(here()))
        dims = {name: value for name, value in given.items() if isinstance(value, int)}
        key = (dims, torch.get_default_dtype())
        try:
            with torch.device(device), torch.no_grad():
                if self.kept[0] != key:
                    suite = self.suite(dims, str(device))
                    torch.manual_seed(0)
                    self.kept = (key, self.model(suite))
                model = self.kept[1]
                shapes = {key: value.shape for key, value in model.state_dict().items()}
                model.load_state_dict({key: given[name].reshape(shapes[key])
                                       for key, name in self.plan["state"].items()}, strict=True)
                args = filled(self.plan["args"], given, lambda leaf: dims[leaf["dim"]])
                return named(self.plan["returns"], model(*args))
        except Exception as error:
            raise located(error, self.sources) from error


def named_leaves(skeleton):
    found = []
    if isinstance(skeleton, dict) and "tensor" in skeleton:
        return [skeleton["tensor"]]
    for part in skeleton.values() if isinstance(skeleton, dict) else skeleton:
        if isinstance(part, (dict, list)):
            found += named_leaves(part)
    return found


MODULE_REFERENCE = ModuleReference(MODULE, SOURCES)


def inputs(seed, **dims):
    return MODULE_REFERENCE.inputs(seed, dims)


def reference(**given):
    return MODULE_REFERENCE.reference(given)
